"""RMF Postprocessor and CICS reports made for the tests in the layouts that IBM documents."""

# ruff: noqa: E501  (reports are printed wider than code)

from __future__ import annotations


def rmf_heading(title: str, *, system: str | None = "SYSA", sysplex: str | None = None, time: str = "10.00.00") -> str:
    """A page heading; titles are printed with blanks between their letters."""
    spaced = "  ".join(" ".join(word) for word in title.split())
    whose = f"SYSTEM ID {system}" if sysplex is None else f"SYSPLEX {sysplex}"
    return f"""\
                                              {spaced}
                                                                                                            PAGE    1
            z/OS V2R4                {whose:<20}    DATE 07/27/2021            INTERVAL 15.00.000
                                     RPT VERSION V2R4 RMF    TIME {time}              CYCLE 1.000 SECONDS

"""


CPU = (
    rmf_heading("CPU ACTIVITY")
    + """
 CPU  8561        CPC CAPACITY   4126       SEQUENCE CODE 000000000002C2D7
 MODEL  716       CHANGE REASON=N/A         HIPERDISPATCH=YES
 H/W MODEL  T01

 ---CPU---    ---------------- TIME % ----------------     LOG PROC      --I/O INTERRUPTS--
 NUM  TYPE    ONLINE    LPAR BUSY    MVS BUSY   PARKED     SHARE %       RATE     % VIA TPI
  0    CP     100.00    87.46        88.20       0.00      100.0  HIGH   1250.40     12.50
  1    CP     100.00    60.00        61.50       0.00       49.7  MED     800.00     10.00
  A    CP      50.00    10.00        20.00      40.00        0.0  LOW       0.00      0.00
 TOTAL/AVERAGE          52.49        56.57                 149.7         2050.40     11.52
  C    IIP    100.00    33.30        34.40       0.00      100.0  HIGH
 TOTAL/AVERAGE          33.30        34.40                 100.0

 SYSTEM ADDRESS SPACE AND WORK UNIT ANALYSIS
 ---------NUMBER OF ADDRESS SPACES---------      ---------------------DISTRIBUTION OF IN-READY WORK UNIT QUEUE-------------
 QUEUE TYPES          MIN    MAX     AVG          NUMBER OF              (%)  0    10   20   30   40   50   60   70   80
                                                  WORK UNITS                  |....|....|....|....|....|....|....|....|
 IN                   102    110    105.4
 IN READY               1     29      5.2          <=  N                 95.1 >>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>
                                                    =  N +   1            2.4 >>
 OUT WAIT               0      3      0.1           >  N + 150            0.0
"""
)

PARTITION = (
    rmf_heading("PARTITION DATA REPORT")
    + """
 MVS PARTITION NAME                      SYSA         PHYS PROC NUM    24          GROUP NAME   CAPGRP1     INITIAL CAP   NO
 IMAGE CAPACITY                           900                   CP     16          LIMIT           1200     LPAR HW CAP   NO
 NUMBER OF CONFIGURED PARTITIONS            3                   IIP     8          AVAILABLE        310     HW GROUP CAP  NO
 WAIT COMPLETION                           NO
 DISPATCH INTERVAL                    DYNAMIC

 --------- PARTITION DATA -----------------  -- LOGICAL PARTITION PROCESSOR DATA --  -- AVERAGE PROCESSOR UTILIZATION PERCENTAGES --
                   ----MSU----  -CAPPING--   PROCESSOR-  ----DISPATCH TIME DATA----  LOGICAL PROCESSORS  --- PHYSICAL PROCESSORS ---
 NAME       S  WGT  DEF    ACT  DEF    WLM%  NUM   TYPE   EFFECTIVE      TOTAL       EFFECTIVE    TOTAL  LPAR MGMT  EFFECTIVE  TOTAL
 SYSA       A  500    0    410  N N N   0.0  3.5   CP    00.25.10.500  00.25.14.600      47.95    48.08       0.03      10.49  10.52
 SYSB       A  300  350    301  N N Y   2.5    4   CP    00.18.00.000  00.18.03.000      30.00    30.08       0.02       7.50   7.52
 *PHYSICAL*                                              00.00.12.345                                          0.09                0.09
                                                         ------------  ------------                          -----      -----  -----
 TOTAL            800                                    00.43.10.500  00.43.29.945                            0.14      17.99  18.13

 SYSA       A  DED                      0.0    2   IIP   00.09.59.400  00.09.59.400      33.30    33.30       0.00       8.33   8.33
 *PHYSICAL*                                              00.00.00.500                                          0.01                0.01
 TOTAL                                                   00.09.59.400  00.09.59.900                            0.01       8.33   8.34
 SYSC       D
"""
)

WORKLOAD = (
    rmf_heading("WORKLOAD ACTIVITY", sysplex="PLEX1")
    + """
 REPORT BY: POLICY=DAYPOL     WORKLOAD=ONLINE     SERVICE CLASS=CICSHI     RESOURCE GROUP=*NONE      PERIOD=1 IMPORTANCE=2
                                                  CRITICAL     =NONE
                                                  DESCRIPTION  =CICS high transactions

 -TRANSACTIONS--  TRANS-TIME HHH.MM.SS.FFFFFF  TRANS-APPL%-----CP-IIPCP/AAPCP-IIP/AAP  ---ENCLAVES---
 AVG        4.75  ACTUAL                53250  TOTAL          35.10      1.20    7.30  AVG ENC   1.50
 MPL        4.75  EXECUTION             50125  MOBILE          5.10      0.20    1.30  REM ENC   0.00
 ENDED     81234  QUEUED                  125  CATEGORYA       0.00      0.00    0.00  MS ENC    0.25
 END/S     90.26  R/S AFFIN                 0  CATEGORYB       0.00      0.00    0.00
 #SWAPS        3  INELIGIBLE                0
 EXCTD         0  CONVERSION                0
                  STD DEV            1.027500

 ----SERVICE----   SERVICE TIME  ---APPL %---  --PROMOTED--  --DASD I/O---   ----STORAGE----  -PAGE-IN RATES-
 IOC      12345    CPU  315.900  CP     28.10  BLK    0.100  SSCHRT  123.4   AVG     2048.00  SINGLE     0.1
 CPU      3159K    SRB   20.100  IIPCP   1.20  ENQ    0.020  RESP      0.5   TOTAL   9728.00  BLOCK      0.0
 MSO          0    RCT    0.010  IIP     7.30  CRM    0.003  CONN      0.3   SHARED    12.00  SHARED     0.2
 SRB     201000    IIT    0.590  AAPCP   0.00  LCK    0.004  DISC      0.1                    HSP        0.0
 TOT      3372K    HST    0.000  AAP      N/A  SUP    0.000  Q+PEND    0.1
 /SEC      3747    IIP   65.700                              IOSQ      0.0
 ABSRPTN    789    AAP      N/A
 TRX SERV   788

 GOAL: RESPONSE TIME 000.00.00.500 FOR  90%

           RESPONSE TIME  EX   PERF  AVG   --EXEC USING%--  -------------- EXEC DELAYS % -----------
 SYSTEM    ACTUAL%        VEL% INDX  ADRSP  CPU AAP IIP I/O  TOT

 *ALL        97.4%        88.1  0.7   12.0  3.1 0.0 0.7 1.2  0.6
 SYSA        98.0%        90.0  0.6    7.0  3.0 0.0 0.7 1.2  0.5

                       ----------RESPONSE TIME DISTRIBUTION----------
    ----TIME----    -----NUMBER OF TRANSACTIONS-----    -------PERCENT-------   0    10   20   30   40   50
      HH.MM.SS.FFFFFF      CUM TOTAL      IN BUCKET     CUM TOTAL   IN BUCKET   |....|....|....|....|....|
 <    00.00.00.250000          70000          70000        86.2        86.2     >>>>>>>>>>>>>>>>>>>>>>>>>>
 <=   00.00.00.500000          79122           9122        97.4        11.2     >>>>>>
 >    00.00.02.000000          81234           2112       100.0         2.6     >>

 REPORT BY: POLICY=DAYPOL     WORKLOAD=BATCH     SERVICE CLASS=BATLOW     RESOURCE GROUP=*NONE      PERIOD=1 IMPORTANCE=5
 -TRANSACTIONS--  TRANS-TIME HHH.MM.SS.FFFFFF
 AVG        2.00  ACTUAL         1.02.500000
 ENDED        11  EXECUTION      1.01.500000
 ----SERVICE----   SERVICE TIME  ---APPL %---
 IOC        900    CPU   18.000  CP      2.00
 GOAL: EXECUTION VELOCITY 10.0%     VELOCITY MIGRATION:   I/O MGMT  45.0%     INIT MGMT 40.0%
 *ALL       --N/A--       45.0  0.2    2.0

 REPORT BY: POLICY=DAYPOL                          REPORT CLASS=RNOTHING
 ALL DATA ZERO
"""
)

COUPLING = (
    rmf_heading("COUPLING FACILITY ACTIVITY", sysplex="PLEX1")
    + """
 -----------------------------------------------------------------------------------------------------------------------------
  COUPLING FACILITY NAME = CF01
  TOTAL SAMPLES(AVG) =   900  (MAX) =   901  (MIN) =   899
 -----------------------------------------------------------------------------------------------------------------------------
                                              COUPLING  FACILITY  USAGE  SUMMARY
 -----------------------------------------------------------------------------------------------------------------------------
  STRUCTURE SUMMARY
 -----------------------------------------------------------------------------------------------------------------------------
                                           % OF                  % OF    % OF    AVG     LST/DIR  DATA      LOCK     DIR REC/
         STRUCTURE                 ALLOC   CF           #        ALL     CF      REQ/    ENTRIES  ELEMENTS  ENTRIES  DIR REC
  TYPE   NAME           STATUS CHG  SIZE   STOR        REQ       REQ     UTIL    SEC     TOT/CUR  TOT/CUR   TOT/CUR  XI'S

  LIST   DSNGRP_SCA     ACTIVE       64M    0.4        1200      0.1     0.2     1.33      21K      42K       N/A      N/A
                                                                                          5112     9120       N/A      N/A
  LOCK   DSNGRP_LOCK1   ACTIVE        1G    6.3      986543     74.9    51.3  1096.16     900K       0       134M      N/A
                                                                                          1234       0      15123      N/A
  CACHE  DSNGRP_GBP2    ACTIVE PRIM 512M    3.1      330000     25.0    48.5   366.67     410K     102K       N/A       77
                                                                                          310K      99K       N/A       12
         STRUCTURE TOTALS            2G     9.8     1317743      100     100  1464.16

  PROCESSOR SUMMARY
 -----------------------------------------------------------------------------------------------------------------------------
  COUPLING FACILITY   8561        MODEL T01   CFLEVEL 24    DYNDISP THIN

  AVERAGE CF UTILIZATION  (% BUSY)          12.4   LOGICAL PROCESSORS:   DEFINED    2   EFFECTIVE   1.5
                                                                         SHARED     1   AVG WEIGHT  50.0

  STORAGE SUMMARY
 -----------------------------------------------------------------------------------------------------------------------------
                                             ALLOC     % OF CF    ------ DUMP SPACE ------
                                             SIZE      STORAGE    % IN USE  MAX % REQUESTED
  TOTAL CF STORAGE USED BY STRUCTURES          2G        9.8
  TOTAL CF DUMP STORAGE                       10M        0.1          0.0          0.0
  TOTAL CF STORAGE AVAILABLE                  14G       90.1
                                           -------
  TOTAL CF STORAGE SIZE                       16G
"""
    + rmf_heading("COUPLING FACILITY ACTIVITY", sysplex="PLEX1")
    + """
  COUPLING FACILITY NAME = CF01
                                     COUPLING  FACILITY  STRUCTURE  ACTIVITY

  STRUCTURE NAME = DSNGRP_LOCK1     TYPE = LOCK   STATUS = ACTIVE
            # REQ    -------------- REQUESTS -------------   -------------- DELAYED REQUESTS -------------
  SYSTEM    TOTAL             #      % OF  -SERV TIME(MIC)-  REASON   #   % OF  ---- AVG TIME(MIC) -----   EXTERNAL REQUEST
  NAME     AVG/SEC           REQ     ALL    AVG    STD_DEV           REQ   REQ   /DEL  STD_DEV   /ALL      CONTENTIONS

  SYSA        500K  SYNC    480K    48.7    6.1      2.5     NO SCH   40   0.1   25.0    10.0     0.0      REQ TOTAL     505K
             555.6  ASYNC     20K    2.0   80.0     40.0     PR WT     0   0.0    0.0     0.0     0.0      REQ DEFERRED   900
                    CHNGD      15    0.0  INCLUDED IN ASYNC  PR CMP    0   0.0    0.0     0.0     0.0      -CONT          850
                    SUPPR       0    0.0                                                                   -FALSE CONT    212
  SYSB      486543  SYNC   486543   49.3    7.0      3.0     NO SCH    0   0.0    0.0     0.0     0.0      REQ TOTAL   486543
             540.6  ASYNC      0    0.0    0.0      0.0                                                    REQ DEFERRED   100
                    CHNGD      0    0.0  INCLUDED IN ASYNC                                                 -CONT           90
                                                                                                           -FALSE CONT     30
  ------------------------------------------------------------------------------------------------------------------------
  TOTAL     986543  SYNC   966543   98.0    6.6      2.8     NO SCH   40   0.0   25.0    10.0     0.0      REQ TOTAL     991K
            1096.2  ASYNC     20K    2.0   80.0     40.0                                                   REQ DEFERRED  1000
                    CHNGD      15    0.0

  STRUCTURE NAME = DSNGRP_GBP2      TYPE = CACHE  STATUS = ACTIVE PRIMARY
  SYSA      330000  SYNC   300000   90.9   12.5      8.0     NO SCH    0   0.0    0.0     0.0     0.0
             366.7  ASYNC   30000    9.1  110.0     60.0
                    CHNGD     500    0.2  INCLUDED IN ASYNC
  TOTAL     330000  SYNC   300000   90.9   12.5      8.0                                         -- DATA ACCESS ---
             366.7  ASYNC   30000    9.1  110.0     60.0                                         READS        120345
                    CHNGD     500    0.2                                                         WRITES       170001
                                                                                                 CASTOUTS      39000
                                                                                                 XI'S          22000
"""
)

TCB_MODES = """\
Applid IYK2Z1V1  Sysid CJB3  Jobname CI07CJB1   Date 12/17/2004  Time 09:18:32         CICS 6.4.0         PAGE     4

Dispatcher TCB Modes

  Dispatcher Start Time and Date . . . . . . :  08:48:48.61342  12/17/2004
  Address Space Accumulated CPU Time . . . . :  00:00:04.55795  (Not Reset)
  Address Space CPU Time (Since Reset) . . . :  00:00:04.51835
  Number of CICS TCB MODEs . . . . . . . . . :              18
  Current ICV time . . . . . . . . . . . . . :         5,000ms

   TCB    TCBs Attached    Op. System     Op. System      Total TCB       Total TCB         DS TCB      TCB CPU/Disp
   Mode  Current    Peak     Waits         Wait Time     Dispatch Time     CPU Time        CPU Time         Ratio
  __________________________________________________________________________________________________________________
    QR         1        1       4,463   01:53:49.86610  00:00:04.92424  00:00:02.28346  00:00:00.34112      46.3%
    RO         2        3         214   01:53:16.47126  00:00:14.06893  00:00:01.10855  00:00:00.00475
"""

DFHSTUP = """\
                          CICS 5.4.0 Statistics Utility Program                Report Date 12/13/2013   Report Time 15:02:11   Page   3
INTERVAL REPORT  Collection Date-Time 12/13/2013-15:00:00  Last Reset 14:30:00  Applid CICSPRD1  Jobname CICSPRD1

Transaction Manager Statistics

   Total number of transactions (user + system) . . . . : 123,456
   Current MAXTASK limit  . . . . . . . . . . . . . . . : 250          Current number of active user tasks. . : 12
   Times at MAXTASK . . . . . . . . . . . . . . . . . . : 3
"""
