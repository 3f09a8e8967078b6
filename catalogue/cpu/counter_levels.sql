-- Which extended counters say from where a line came into the level-1 cache, by machine generation, and what each level
-- counts in the relative nest intensity. z13 to z17: formulas that IBM gave to the Linux tool perf
-- (tools/perf/pmu-events/arch/s390/cf_*); before: the names of the counters (libpfm4, IBM's list for each machine), of
-- which z10 has no level 3 of its own: what it calls L1.5 is level 2 here, its L2 of the same book and of other books
-- stand at level 4. Versions of the counters (CSVN) are those known for these machines, from memory; under another one
-- numbers can mean other things. Weights: IBM, "CPU MF overview and WSC experiences", not at hand when they were written
-- down; those of z17 are not known.
select *
from (values
    ('z10', ['2097', '2098'], 1, 5, [128, 129]::integer[], []::integer[],
        [130, 131]::integer[],
        [132, 133]::integer[],
        [134, 135]::integer[],
        0::double, 1.0::double, 2.4::double, 7.5::double, null::integer, null::integer[]),
    ('z196', ['2817', '2818'], 1, 5, [128, 129]::integer[], [150, 153]::integer[],
        [135, 136, 152, 155]::integer[],
        [134, 138, 139, 143]::integer[],
        [141, 142]::integer[],
        1.67 * 0.4::double, 1.67 * 1.0::double, 1.67 * 2.4::double, 1.67 * 7.5::double, null::integer, null::integer[]),
    ('zEC12', ['2827', '2828'], 1, 5, [130, 131, 132]::integer[], [144, 150, 153, 159]::integer[],
        [145, 147, 151, 154, 156, 160]::integer[],
        [146, 148, 152, 155, 157, 161]::integer[],
        [135, 137]::integer[],
        2.3 * 0.4::double, 2.3 * 1.2::double, 2.3 * 2.7::double, 2.3 * 8.2::double, null::integer, null::integer[]),
    ('z13', ['2964', '2965'], 1, 5, [133, 136]::integer[], [144, 145, 162, 163]::integer[],
        [146, 147, 148, 164, 165, 166]::integer[],
        [149, 150, 151, 152, 153, 154, 155, 156, 157, 167, 168, 169, 170, 171, 172, 173, 174, 175]::integer[],
        [158, 159, 160, 161, 176, 177, 178, 179]::integer[],
        2.3 * 0.4::double, 2.3 * 1.6::double, 2.3 * 3.5::double, 2.3 * 7.5::double, 143, null::integer[]),
    ('z14', ['3906', '3907'], 1, 6, [133, 136]::integer[], [144, 146, 162, 164]::integer[],
        [147, 149, 150, 152, 156, 158, 165, 167, 168, 170, 174]::integer[],
        [153, 155, 157, 171, 173, 175]::integer[],
        [145, 148, 151, 154, 163, 166, 169, 172]::integer[],
        2.4 * 0.4::double, 2.4 * 1.5::double, 2.4 * 3.2::double, 2.4 * 7.0::double, 143, [130, 135]),
    ('z15', ['8561', '8562'], 6, 6, [133, 136]::integer[], [144, 146, 162, 164]::integer[],
        [147, 149, 150, 152, 156, 158, 165, 167, 168, 170, 174]::integer[],
        [153, 155, 157, 171, 173, 175]::integer[],
        [145, 148, 151, 154, 163, 166, 169, 172]::integer[],
        2.9 * 0.45::double, 2.9 * 1.5::double, 2.9 * 3.2::double, 2.9 * 6.5::double, 143, [130, 135]),
    ('z16', ['3931', '3932'], 7, 7, [145, 146, 169, 170]::integer[], [147, 149, 150, 151, 171, 173, 174, 175]::integer[],
        [148, 152, 153, 154, 160, 161, 162, 163, 164, 165, 172, 176, 177, 178]::integer[],
        [155, 166, 167, 168, 179]::integer[],
        [156, 157, 158, 159, 180, 181, 182, 183]::integer[],
        4.3 * 0.45::double, 4.3 * 1.3::double, 4.3 * 5.0::double, 4.3 * 6.1::double, 143, [130, 135]),
    ('z17', ['9175', '9176'], 8, 8, [145, 146, 169, 170]::integer[], [147, 149, 150, 151, 171, 173, 174, 175]::integer[],
        [148, 152, 153, 154, 160, 161, 162, 163, 164, 165, 172, 176, 177, 178]::integer[],
        [155, 166, 167, 168, 179]::integer[],
        [156, 157, 158, 159]::integer[],
        null::double, null::double, null::double, null::double, 143, [130, 135])
) t (
    generation, machine_types, first_csvn, last_csvn, level_2, level_3, level_4_local, level_4_remote, memory,
    weight_3, weight_4_local, weight_4_remote, weight_memory, miss_cycles, tlb_cycles
)
