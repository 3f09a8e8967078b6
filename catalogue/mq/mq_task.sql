-- Tasks (WTAS). Calls to queues lie in blocks of their own (WQ), some of them in continuation records: rows beside the
-- task's, with nothing but calls and their times.
with blocks as (
    select *, 1 as tasks,
        list_sum([wtascmn, wtasban, wtasprn, wtasotn, wtassun, wtassqn, wtasctn, wtasstn]) as calls,
        list_sum([wtascmet, wtasbaet, wtaspret, wtasotet, wtassuet, wtassqet, wtasctet, wtasstet]) as elapsed_seconds,
        list_sum([wtascmct, wtasbact, wtasprct, wtasotct, wtassuct, wtassqct, wtasctct, wtasstct]) as cpu_seconds,
        list_sum([
            wtaslwn_1, wtaslwn_2, wtaslwn_3, wtaslwn_4, wtaslwn_5, wtaslwn_6, wtaslwn_7, wtaslwn_8,
            wtaslwn_9, wtaslwn_10, wtaslwn_11, wtaslwn_12, wtaslwn_13, wtaslwn_14, wtaslwn_15, wtaslwn_16,
            wtaslwn_17, wtaslwn_18, wtaslwn_19, wtaslwn_20, wtaslwn_21, wtaslwn_22, wtaslwn_23, wtaslwn_24,
            wtaslwn_25, wtaslwn_26, wtaslwn_27, wtaslwn_28, wtaslwn_29, wtaslwn_30, wtaslwn_31, wtaslwn_32
        ]) as latch_waits,
        list_sum([
            wtaslwet_1, wtaslwet_2, wtaslwet_3, wtaslwet_4, wtaslwet_5, wtaslwet_6, wtaslwet_7, wtaslwet_8,
            wtaslwet_9, wtaslwet_10, wtaslwet_11, wtaslwet_12, wtaslwet_13, wtaslwet_14, wtaslwet_15, wtaslwet_16,
            wtaslwet_17, wtaslwet_18, wtaslwet_19, wtaslwet_20, wtaslwet_21, wtaslwet_22, wtaslwet_23, wtaslwet_24,
            wtaslwet_25, wtaslwet_26, wtaslwet_27, wtaslwet_28, wtaslwet_29, wtaslwet_30, wtaslwet_31, wtaslwet_32
        ]) as latch_seconds,
        greatest(
            wtaslmax_1, wtaslmax_2, wtaslmax_3, wtaslmax_4, wtaslmax_5, wtaslmax_6, wtaslmax_7, wtaslmax_8,
            wtaslmax_9, wtaslmax_10, wtaslmax_11, wtaslmax_12, wtaslmax_13, wtaslmax_14, wtaslmax_15, wtaslmax_16,
            wtaslmax_17, wtaslmax_18, wtaslmax_19, wtaslmax_20, wtaslmax_21, wtaslmax_22, wtaslmax_23, wtaslmax_24,
            wtaslmax_25, wtaslmax_26, wtaslmax_27, wtaslmax_28, wtaslmax_29, wtaslmax_30, wtaslmax_31, wtaslmax_32
        ) as longest_of_latches
    from smf116_1_wtas
    union all by name
    select system, sysplex, subsystem, interval_start, interval_end, utc_offset, source_id, record_no,
        list_sum([openn, closen, getn, putn, put1n, inqn, setn, cbn]) as calls,
        list_sum([openet, closeet, getet, putet, put1et, inqet, setet, cbet]) as elapsed_seconds,
        list_sum([openct, closect, getct, putct, put1ct, inqct, setct, cbct]) as cpu_seconds
    from smf116_1_wq
)
select b.*, t.task_start, t.task_end, a.* exclude (source_id, record_no)
from blocks b
left join mq_application a on a.source_id = b.source_id and a.record_no = b.record_no
left join mq_task_time t on t.source_id = b.source_id and t.record_no = b.record_no
