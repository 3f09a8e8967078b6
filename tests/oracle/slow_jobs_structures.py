"""Structures of SMF 30, 42-6 and 73, typed from IBM's documentation of z/OS MVS System Management Facilities.

Where a table of the documentation is not public in full, offsets are those of the schema of the SMF data REST services
of z/OS 3.1; synchronous I/O section 1 of 42-6 and its product section are those of a published formatter. Each line
begins where the table says that its first field does; the fields of a line follow one another.
"""

from __future__ import annotations

from tests.oracle.slow_forms import structure

# --- SMF 30 ----------------------------------------------------------------------------------------------------------

SUBSYSTEM = structure("""
0 u2 smf30typ
3 bits1 smf30pflags
4 text2 smf30rvn
6 text8 smf30pnm smf30osl smf30syn smf30syp
""")
IDENTIFICATION = structure("""
0 text8 smf30jbn smf30pgm smf30stm smf30uif smf30jnm
40 u2 smf30stn
42 text1 smf30cls
43 bits1 smf30jf1
44 u2 smf30pgn smf30jpt
48 daytime smf30ast smf30pps smf30sit
60 day smf30std
64 daytime smf30rst
68 day smf30rsd
72 daytime smf30ret
76 day smf30red
80 text20 smf30usr
100 text8 smf30grp smf30rud smf30tid smf30tsn smf30psn smf30cl8
148 utc smf30iss smf30iet
164 u4 smf30ssn
168 text16 smf30exn
184 u2 smf30asi
186 text64 smf30cor
250 hex4 smf30jclid1 smf30jclid2
258 hex8 smf30jobtoken
266 hex6 smf30holduntil smf30deadline
""")
IO_ACTIVITY = structure("""
0 u4 smf30inp smf30tep smf30tpt smf30tgt
16 u1 smf30rdr smf30rdt
18 u128_4 smf30tcn
22 bits4 smf30dcf
28 u4 smf30trr
32 u128_4 smf30aic smf30aid smf30aiw
44 u4 smf30ais
48 u128_4 smf30eic smf30eid smf30eiw
60 u4 smf30eis
64 u8 smf30tex
72 u4 smf30das
""")
COMPLETION = structure("""
0 bits2 smf30scc smf30sti
4 u4 smf30arc
""")
PROCESSOR = structure("""
0 u2 smf30pty
2 bits2 smf30tfl
4 hundredth4 smf30cpt smf30cps smf30icu smf30isb smf30jvu smf30ivu smf30jva smf30iva
36 daytime smf30ist
40 day smf30idt
44 hundredth4 smf30iip smf30rct smf30hpt
56 u4 smf30csc smf30dmi smf30dmo
68 hundredth4 smf30asr smf30enc smf30det
80 u1024_4 smf30cep
84 bits1 smf30tf2 smf30t32 smf30t33 smf30_boostinfo
88 hundredth4 smf30_time_on_ifa smf30_enclave_time_on_ifa smf30_dep_enclave_time_on_ifa
100 hundredth4 smf30_time_ifa_on_cp smf30_enclave_time_ifa_on_cp smf30_dep_enclave_time_ifa_on_cp
112 u1024_4 smf30cepi
116 hundredth4 smf30_time_on_ziip smf30_enclave_time_on_ziip smf30_depenc_time_on_ziip
128 hundredth4 smf30_time_ziip_on_cp smf30_enclave_time_ziip_on_cp smf30_depenc_time_ziip_on_cp
140 hundredth4 smf30_enclave_time_ziip_qual smf30_depenc_time_ziip_qual
148 u1024_4 smf30crp
152 hundredth4 smf30icu_step_term smf30icu_step_init smf30isb_step_term smf30isb_step_init
168 u4 smf30_missed_smf30blk
172 u128_4 smf30_missed_smf30dct
176 u2 smf30_highest_task_cpu_percent
178 text8 smf30_highest_task_cpu_program
186 bits1 smf30cas_flag
188 hex4 smf30cas_oa54589
192 hundredth4 smf30_time_java_on_ziip smf30_enclave_time_java_on_ziip smf30_depenc_time_java_on_ziip
204 hundredth4 smf30_time_java_on_cp smf30_enclave_time_java_on_cp smf30_depenc_time_java_on_cp
""")
STORAGE = structure("""
2 bits1 smf30sfl
3 u1 smf30spk
4 kib2 smf30prv smf30sys
8 u4 smf30pgi smf30pgo smf30cpm smf30nsw smf30psi smf30pso smf30vpi smf30vpo smf30vpr smf30cpi smf30hpi smf30lpi
56 u4 smf30hpo smf30pst
64 u1024_8 smf30psc
72 u4 smf30rgb smf30erg smf30arb smf30ear smf30urb smf30eur
96 kib4 smf30rgn
100 mib4 smf30dsv
104 u4 smf30pie smf30poe smf30bia smf30boa smf30bie smf30boe smf30kia smf30koa smf30kie smf30koe
144 i1024_8 smf30psf
152 u4 smf30pai smf30pei
160 hex8 smf30ers
168 mib8 smf30mem
176 u1 smf30mes
177 bits1 smf30slm smf30_raxflags
184 u8 smf30hvr smf30hva smf30hvo smf30hvh smf30hso smf30hsh
232 u4 smf30tih smf30tiu smf30tis smf30numberofdataspaceshwm
248 u8 smf30userdataspacecreatereqcount
256 u8 smf30_dmemrequested2g smf30_dmemminrequested2g smf30_dmemassigned2g
280 u8 smf30_dmemnuminuseas2g smf30_dmemnuminuseasfixed1m smf30_dmemnuminuseaspageable1m smf30_dmemnuminuseas4k
312 u8 smf30_dmemnuminuseasdattables smf30_dmemnuminuseas4khwm smf30_dmemnuminuseaspageable1mhwm
336 u8 smf30_dmemnuminuseasfixed1mhwm smf30_dmemnuminuseas2ghwm smf30_dmemnuminuseasdattableshwm
360 u8 smf30_dmemnuminusehwm smf30_dmemnum2gfailed smf30_dmemnum1mfailed smf30_dmemnum4kfailed
392 u8 smf30_numinuseas2ghwm smf30_num2gfailed smf30_obtainshomespace smf30_iarv64obtainshomespace
424 u8 smf30_framesfirstreferencebacking
432 mib8 smf30_sumreal1m
440 hex16 smf30_sumsquaresreal1m
456 u8 smf30_numsamples
464 mib8 smf30_hwmhvreal1m
""")
PERFORMANCE = structure("""
0 u4 smf30srv smf30csu smf30srb smf30io smf30mso
20 u1024_4 smf30tat
24 u4 smf30sus
28 u1024_4 smf30res
32 u4 smf30trs
36 text8 smf30wlm smf30scn smf30grn smf30rcn
68 u1024_4 smf30eta
72 u4 smf30esu smf30etc
80 text16 smf30pfl
96 u1024_4 smf30jqt smf30rqt smf30hqt smf30sqt
112 bits1 smf30pf1 smf30pf2 smf30inv
115 u1 smf30zep
116 text8 smf30jpn
124 tenthousandth4 smf30msc
128 u2 smf30cpc smf30loc smf30src
134 part256_2 smf30znf smf30snf
144 u8 smf30srv_l smf30csu_l smf30srb_l smf30io_l smf30mso_l smf30esu_l
192 bits1 smf30acb smf30cr
194 u2 smf30_capacity_change_cnt
196 u4 smf30_rctpcpua_actual smf30_rctpcpua_nominal smf30_rctpcpua_scaling_factor
208 u1 smf30_capacity_adjustment_ind smf30_capacity_change_rsn
210 bits1 smf30_capacity_flags
212 u4 smf30_rmctadjn_nominal
""")
OPERATOR = structure("0 u4 smf30pdm smf30prd smf30ptm smf30tpr smf30mtm smf30msr")
EXCP = structure("""
0 u1 smf30dev smf30utp
2 u2 smf30cua
4 text8 smf30ddn
12 u4 smf30blk
16 u2 smf30bsz
18 u128_4 smf30dct
22 u8 smf30xbs
""")
APPC = structure("""
0 u4 smf30dc smf30dca smf30dsc
12 hex8 smf30dds
20 u4 smf30drc
24 hex8 smf30ddr
32 u4 smf30dac smf30dtr
""")
APPC_CUMULATIVE = structure("""
0 u4 smf30cn smf30cna smf30sen
12 hex8 smf30dat
20 u4 smf30rec
24 hex8 smf30dar
32 u4 smf30tac smf30atr
""")
UNIX_PROCESS = structure("""
0 u4 smf30opi smf30opg smf30oui smf30oug smf30osi
20 hundredth4 smf30osc
24 u4 smf30ost smf30odr smf30ofr smf30ofw smf30opr smf30opw
56 u4 smf30oll smf30olp smf30ogl smf30ogp smf30opp
92 u4 smf30osy
""")
USAGE = structure("""
0 text16 smf30upo smf30upn
32 text8 smf30upv smf30upq smf30upi
56 hundredth4 smf30uct smf30ucs
64 hex8 smf30urd
72 u1 smf30udf
73 bits1 smf30ufg
""")
AUTOMATIC_RESTART = structure("""
0 text16 smf30rnm
16 text8 smf30rtp
24 text16 smf30rrg
40 text8 smf30rsn
48 daytime smf30rgt
52 day smf30rgd
56 daytime smf30rwt
60 day smf30rwd
64 daytime smf30ryt
68 day smf30ryd
72 daytime smf30rtt
76 day smf30rtd
""")
REMOTE_ENCLAVE = structure("""
0 text8 smf30mrs
8 u4 smf30mra
12 hundredth4 smf30mrd smf30mri
""")
COUNTERS = structure("""
0 bits1 smf30_instflgs1
8 u8 smf30_inst_cp_task smf30_inst_cp_nonpreemptsrb smf30_inst_cp_preemptsrb smf30_inst_offload smf30_inst_offloadoncp
48 u8 smf30_inst_cp_enclave smf30_inst_offload_enclave smf30_inst_offloadoncp_enclave
72 u8 smf30_inst_cp_depenc smf30_inst_offload_depenc smf30_inst_offloadoncp_depenc
""")
ZEDC = structure("""
0 u8 smf30_us_comprreq smf30_us_comprreq_prob
16 usec8 smf30_us_queuetime smf30_us_exectime
32 u8 smf30_us_def_uncomprin smf30_us_def_comprout smf30_us_inf_comprin smf30_us_inf_decomprout
""")
CRYPTO = structure("""
0 u2 smf30_crypctrs_entry_id
2 u8 smf30_crypctrs_count
""")
NNPI = structure("""
0 u2 smf30_nnpictrs_entry_id
2 u8 smf30_nnpictrs_count
""")
CONTAINER = structure("""
0 text64 smf30_container_id
64 text32 smf30_container_qual
96 text64 smf30_pod_id
""")

#: Sections of SMF 30: where the triplet is, the table, the structure, the length of the section.
SMF30 = (
    (24, "smf30_subsystem", SUBSYSTEM, 38),
    (32, "smf30_identification", IDENTIFICATION, 278),
    (40, "smf30_io_activity", IO_ACTIVITY, 76),
    (48, "smf30_completion", COMPLETION, 8),
    (56, "smf30_processor_accounting", PROCESSOR, 216),
    (72, "smf30_storage", STORAGE, 472),
    (80, "smf30_performance", PERFORMANCE, 216),
    (88, "smf30_operator", OPERATOR, 24),
    (96, "smf30_excp", EXCP, 30),
    (112, "smf30_appc", APPC, 40),
    (120, "smf30_appc_cumulative", APPC_CUMULATIVE, 40),
    (128, "smf30_unix_process", UNIX_PROCESS, 96),
    (140, "smf30_usage", USAGE, 74),
    (152, "smf30_automatic_restart", AUTOMATIC_RESTART, 80),
    (164, "smf30_remote_enclave", REMOTE_ENCLAVE, 20),
    (176, "smf30_counters", COUNTERS, 96),
    (184, "smf30_zedc", ZEDC, 64),
    (192, "smf30_crypto_counters", CRYPTO, 10),
    (204, "smf30_nnpi_counters", NNPI, 10),
    (220, "smf30_container", CONTAINER, 160),
)
#: Where the accounting section's triplet is, and where the header of the newest release ends.
SMF30_ACCOUNTING = 64
SMF30_HEADER = 228
#: The header without the sections after EXCP, as releases before them have it.
SMF30_OLD_HEADER = 104

# --- SMF 42-6 --------------------------------------------------------------------------------------------------------

PRODUCT_42 = structure("""
0 text8 smf42pdl
8 text10 smf42pdn
18 u1 smf42psv
20 utc smf42pts smf42pte
""")
JOB = structure("""
0 text8 s42jdjnm
8 daytime s42jdrst
12 day s42jdrsd
16 text8 s42jduid
24 u4 s42jddso
28 u2 s42jddsl
30 u1 s42jdcod s42jdver
32 u2 s42jdpgn s42jdiol s42jdaml
38 u1 s42jdst1
40 i4 s42jdgmo
44 text8 s42jdwsc s42jdwld
64 text8 s42jdstn
""")
DATA_SET = structure("""
0 u4 s42dsnxt
4 text44 s42dsn
48 u1 s42dstyp
49 bits1 s42dscod s42dsfl1
52 u4 s42dsioo s42dsamo
60 text6 s42dsvol
66 u2 s42dsdev
68 text8 s42dssc
76 u4 s42dsbsz
80 u2 s42dstrp s42dsent
84 u1 s42dscmt
88 u4 s42dssno
92 u2 s42dssnl
96 u4 s42dss2o
100 u2 s42dss2l
102 bits1 s42ds2fl
104 u4 s42dss3o
108 u2 s42dss3l
112 u4 s42dss4o
116 u2 s42dss4l s42dss4n
""")
IO_42 = structure("""
0 u128_4 s42dsior s42dsioc s42dsiop s42dsiod s42dsioq
20 u4 s42dsion s42dscnd s42dsshts s42dswcn s42dswhi s42dsseq s42dsrlc s42dsicl
52 u128_4 s42dsda0 s42dsmxr s42dsmxs s42dsrdd
68 u4 s42dsrdt s42dshrd s42dshwr
80 usec4 s42dsr1u s42dsc1u s42dsp1u s42dsd1u s42dsq1u s42dsa1u s42dst1u s42dsb1u s42dsm1u
116 u4 s42dsios s42dscnt s42dsrru s42dsrsu s42snavgardelay s42snardelaycount
140 u2 s42dsmxi
144 usec8 s42dscrp
""")
ACCESS_METHOD = structure("""
0 u4 s42amsrb
4 u128_4 s42amsrr
8 u4 s42amswb
12 u128_4 s42amswr
16 u4 s42amdrb
20 u128_4 s42amdrr
24 u4 s42amdwb
28 u128_4 s42amdwr
32 u4 s42amzrb s42amzrr s42amzwb s42amzwr
48 u8 s42amrib s42amwib s42amrbd s42amwbe
80 u4 s42amrci s42amwci
""")
SYNC_1 = structure("""
0 u4 s42snerd s42snerh s42snewr s42snrdt s42snros s42snwdt s42snwos s42snseq s42sncnd s42snhts s42snwcn s42snwhi
48 u4 s42snrms s42snwms s42snmxr s42snmxw s42snrdu s42snwtu s42snonc
""")
SYNC_2 = structure("""
0 u4 s42sntwr s42sntwo s42sntws s42sntwb s42sntwm s42sntwp s42sntwe s42sntwi s42sntwc s42sntwd
40 u4 s42sntwa s42sntwk s42sntwv s42sntwl s42sntwt s42sntwn s42sntwg s42sntwy s42sntwu s42sntwf s42sntwq s42sntwz
88 u4 s42sntww s42sntwx s42sntwh s42sntdr s42sntdx s42sntwj
""")
SYNC_3 = structure("""
2 u2 s42sndwh
5 u1 s42sndwj
6 u2 s42sndwn
8 u4 s42sndwt s42sndwo s42sndws s42sndwb s42sndwm s42sndwp s42sndwe s42sndwi s42sndwc s42sndwd s42sndwu s42sndwk
56 u4 s42sndwv s42sndwx
""")

#: Sections that a data set header points at: table, structure, length, field with the place, and where it is.
OF_A_DATA_SET = (
    ("smf42_6_io", IO_42, 152, 52),
    ("smf42_6_access_method", ACCESS_METHOD, 88, 56),
    ("smf42_6_sync_1", SYNC_1, 80, 88),
    ("smf42_6_sync_2", SYNC_2, 112, 96),
    ("smf42_6_sync_3", SYNC_3, 64, 104),
)

# --- SMF 73 ----------------------------------------------------------------------------------------------------------

CONTROL = structure("""
0 u4 smf73smp
4 bits1 smf73cfl smf73sfl
8 text44 smf73tnm
52 text2 smf73tsf
56 text8 smf73tdt smf73ttm
72 u4 smf73crc smf73csc
80 text10 smf73tdy
90 u1 smf73cmi smf73css
""")
CHANNEL = structure("""
0 u1 smf73pid
1 bits1 smf73fg2 smf73fg3 smf73fg4
4 u4 smf73bsy
8 u1024_4 smf73pby smf73pti
16 u1 smf73cpd
17 text5 smf73acr
22 u1 smf73cmg
23 bits1 smf73fg5
72 u1 smf73cpp smf73gen
74 u2 smf73eix smf73spd
78 bits1 smf73msc
80 text16 smf73nt1 smf73nt2
""")
GROUPS = {
    1: structure("0 float128 smf73tut smf73put"),
    2: structure("""
0 float smf73mbc smf73mcu smf73mwu smf73mru smf73us
20 float smf73tbc smf73tuc smf73puc smf73twu smf73pwu smf73tru smf73pru
"""),
    3: structure("""
0 float smf73pdu smf73tdu smf73pum smf73tum
20 float smf73pms smf73tms smf73pus smf73pub smf73tub smf73pds smf73tds
"""),
}
EXTENDED = structure("""
0 u1 smf73ecp
4 u4 smf73eoc smf73eod
12 u8 smf73eos
20 u4 smf73etc smf73etd
28 u8 smf73ets
""")
