-- Rows of accounting reports of one level, {level}, by the identifiers that the report prints. A report tells what one
-- occurrence took on average: the sum is that times the occurrences, and carries the rounding of the print as often. An
-- excerpt without its highlights counts as one occurrence, which leaves every average as printed.
--
-- The same threads listed in two groupings (by plan, then by user) would count twice: a database should hold one of
-- them.
select * replace (named(coalesce(subsystem, member), source_id, record_no) as subsystem),
    plan_name as plan, correlation_name as correlation, primary_auth as auth, package_name as package,
    case when is_average::boolean then coalesce(occurrences, 1) else 1 end as times
from text_db2_accounting
where level = '{level}'
-- A total over groups that are listed beside it would count them again.
qualify not coalesce(starts_with(plan_name, '*'), false)
    or bool_and(coalesce(starts_with(plan_name, '*'), false)) over (partition by source_id, record_no)
