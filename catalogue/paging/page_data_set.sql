-- Page data sets with the number of samples of their interval.
select d.*, p.smf7xsam
from smf75_1_page_data_set d
left join rmf_product_section p on p.source_id = d.source_id and p.record_no = d.record_no
