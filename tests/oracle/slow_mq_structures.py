"""Structures of SMF 115 and 116, typed from IBM's documentation of IBM MQ for z/OS and from CSQDSMFC.

Sources: the record layout topics of the monitoring guide (10.0), and the structures as the public program mq-smf-csv
publishes them for MQ 10.0. One list of structures: its length is theirs.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.oracle.slow_forms import Field, structure

# --- product section -------------------------------------------------------------------------------------------------

_QWHS = """
0 u2 qwhslen
2 u1 qwhstyp qwhsrmid
4 u2 qwhsiid
6 u1 qwhsnsda qwhsrn
8 u4 qwhsace
12 text4 qwhsssid
16 utc qwhsstck
24 u4 qwhsiseq qwhswseq
32 bits1 qwhsflag1
33 u1 qwhsflag2 qwhsflag3 qwhsflag4
36 local qwhstime
44 {duration} qwhsdurn
"""
# The queue manager counts its interval in microseconds, the channel initiator in TOD units.
QWHS = structure(_QWHS.format(duration="usec8"))
QWHS_CHINIT = structure(_QWHS.format(duration="tod"))
QWHC = structure("""
0 u2 qwhclen
2 u1 qwhctyp
4 text8 qwhcaid
12 hex12 qwhccv
24 text8 qwhccn
40 text8 qwhcopid
48 u4 qwhcatyp
52 hex22 qwhctokn
74 hex16 qwhcnid
""")
QWHX = structure("""
0 u2 qwhxlen
2 u1 qwhxtyp
4 text4 qwhxqsg
8 text6 qwhxrel
""")
SHORT_PRODUCT = structure("""
0 u2 qwhslen
2 u1 qwhstyp qwhsrmid
4 u2 qwhxlen
6 u1 qwhxtyp
8 text4 qwhxqsg
12 text6 qwhxrel
""")

# --- 115 subtype 1: system information -------------------------------------------------------------------------------

SECTION_4 = structure("0 hex64 section_4")
SECTION_5 = structure("0 hex96 section_5")
QSST = structure("""
0 u2 qsstid qsstlen
4 text4 qsstdesc
8 u4 qsstgplf qsstfplf qsstfref qsstexpf qsstconf
28 u4 qsstgplv qsstfplv qsstfrev qsstexpv qsstconv
48 u4 qsstgetm qsstfrem qsstrcnz qsstcont qsstcrit qsstabnd
""")


def _qjst() -> list[Field]:
    lines = """
0 hex2 qjstid
2 u2 qjstll
4 text4 qjsteid
8 u4 qjstwrw qjstwrnw qjstwrf qjstwtb qjstrbuf qjstract qjstrarh qjsttvc qjstbsds qjstbffl qjstbfwr
52 u4 qjstalr qjstalw qjstciof qjstllcp qjstwur qjstlama qjstlams qjstlsus qjstlogw qjstciwr qjstserw qjstthrw qjstbpag
120 u4 qjstcmpreq qjstcmpfail
128 u8 qjstcmpuncmp qjstcmpcomp
144 u4 qjstdecreq qjstdecfail
152 u8 qjstdecuncmp qjstdeccomp
"""
    for copy in (1, 2):
        for kind in (1, 2):
            at, tail = 264 + (copy - 1) * 144 + (kind - 1) * 72, f"_{copy}_{kind}"
            lines += f"{at} u4 qjstiocount{tail} qjstioci{tail}\n"
            lines += f"{at + 8} tod qjstiototio{tail} qjstiototsus{tail} qjstiomaxio{tail}\n"
            lines += f"{at + 32} utc qjstiomaxiot{tail}\n{at + 40} text8 qjstiomaxiol{tail}\n"
            lines += f"{at + 48} tod qjstiomaxsus{tail}\n{at + 56} utc qjstiomaxsust{tail}\n"
            lines += f"{at + 64} text8 qjstiomaxsusl{tail}\n"
    lines += """
552 usec8 qjstslptu
560 u8 qjstiosqu_1
568 usec2_8 qjstiosqu_2
576 u4 qjstcp1n qjstcp2n qjsthwc qjsthwe qjstencr
600 u4 qjsthlsciw qjsthlmciw qjsthlcicntw qjsthlscis qjsthlmcis qjsthlcicnts
624 u4 qjsthlscif qjsthlmcif qjsthlcicntf qjsthlscicon qjsthlmcicon qjsthlconcicnt
648 u8 qjsthlsciwtmax qjsthlsciwtmin qjsthlsciwttot qjsthlmciwtmax qjsthlmciwtmin qjsthlmciwttot
696 u8 qjsthliosqu_1 qjsthliosqu_2
712 u4 qjsthlc qjsthle
"""
    return structure(lines)


QJST = _qjst()

# --- 115 subtype 2: messages, pages, queue sharing -------------------------------------------------------------------

QMST = structure("""
0 u2 qmstid qmstll
4 text4 qmsteyec
8 u4 qmstopen qmstclos qmstget qmstput qmstput1 qmstinq qmstinql qmstset qmstendw qmstcalh
48 u4 qmstsub qmstsubr qmstcb qmstctl qmststus qmstpubs
72 u8 qmstspp qmstsnp qmstpbp qmstnbp
104 u8 qmstocpa qmstocga qmstoahc qmstocpd qmstocmp qmstocgd qmstocps qmstocgs qmstoscs qmstosps qmstosns qmstocda
200 u8 qmstospl qmstoscl qmstosfs qmstosok qmstosfr qmstosfc qmstotso qmstotsr qmstotsc
272 tod qmstotpu qmstotpw qmstotpd
296 u4 qmstotsk
304 u8 qmstobse qmstobcp qmstobcd
""")
QIST = structure("""
0 u2 qistid qistll
4 text4 qisteyec
8 u4 qistmget qistmput qistmblr qistdcre qistdput qistddel qistdget qistdloc qistmcnt qistalst qistlomm qistdlmm
56 u4 qistenum qistraio qistrabp qistgetd qistgetb
""")
QPST = structure("""
0 u2 qpstid qpstll
4 text4 qpsteyec
8 u4 qpstpool qpstnbuf qpstcbsl qpstcbs qpstgetp qpstgetn qpstrio qpststw qpsttpw qpstwio qpstimw qpstdwt qpstdmc
60 u4 qpststl qpststla qpstsos
72 bits4 qpstflags
""")
QLST = structure("""
0 u2 qlstid qlstll
4 text4 qlsteyec
8 u4 qlstgetl qlsthldl qlstrell
""")


def _q5st() -> list[Field]:
    lines = """
0 u2 q5stid q5stll
4 text4 q5steyec
8 u4 numtask acttask conncnt disccnt dhigmax abndcnt requcnt deadcnt delecnt listcnt readcnt updtcnt writcnt
60 u4 scssel scsins scsupd scsdel ssksel sskins sskdel scsbfts scsmaxr
"""
    times = ["tcuw", "tmxw", "scuw", "smxw"]
    kinds = ["dele", "list", "read", "updt", "writ", "scss", "scsi", "scsu", "scsd", "ssks", "sski", "sskd"]
    for number, kind in enumerate(kinds):
        lines += f"{104 + 32 * number} tod " + " ".join(kind + time for time in times) + "\n"
    lines += "488 u4 lmssel lmsins lmsupd lmsdel lmslis\n"
    for number, kind in enumerate(["lmss", "lmsi", "lmsu", "lmsd", "lmsl"]):
        lines += f"{512 + 32 * number} tod " + " ".join(kind + time for time in times) + "\n"
    return structure(lines)


Q5ST = _q5st()
QEST = structure("""
0 u2 qestid qestll
4 text4 qesteyec
""")
QEST_STRUCTURE = structure("""
0 text12 qeststr
12 u4 qeststrn qestcsec qestcmec
24 tod qestsstc qestmstc
40 u4 qestrsec qestrmec qestsful qestmnus qestmlus
""")
QTST = structure("""
0 u2 qtstid qtstll
4 text4 qtstdesc
8 u4 qtststot qtstsdur qtstshig_1 qtstshig_2 qtstshig_3 qtstslow_1 qtstslow_2 qtstslow_3 qtstsexp qtsttmsg qtstsphw
52 u4 qtstptot_1 qtstptot_2 qtstptot_3 qtstphig qtstplow qtstpnos
80 tod qtstethw qtstetto
""")
QESD = structure("""
0 u2 qesdid qesdll
4 text4 qesdeyec
8 text12 qesdstr
20 u4 qesdstrn qesdsmbt qesdsmbs qesdsmbd qesdsmbu qesdsmbf qesdsmmc qesdsmar qesdsmfr qesdsmrr qesdsmcr
64 u4 qesdsmap qesdsmfp qesdsmrp qesdsmcp qesdsmfl qesdsmmm qesdsmmu qesdsmmf
96 u4 qesdbfsz qesdbfto qesdbfus qesdbfup qesdbffs qesdbffe qesdbfpw qesdbfbw
128 u4 qesdbfgb qesdbfgv qesdbfgm qesdbfgf qesdbfgl qesdbfgn qesdbfrr qesdbfrs qesdbfrp qesdbfwr
168 u4 qesdbffb qesdbfdb qesdbfwp qesdbfwb
184 tod qesdbfpt qesdbfbt
200 u4 qesdbfmu qesdbfmf qesdbfmp qesdbfmb qesdioha qesdiohu qesdioci qesdioca
232 u4 qesdiofr qesdiofp
240 tod qesdioft qesdiofw
256 u4 qesdiowr qesdiowp
264 tod qesdiowt qesdioww
280 u4 qesdiorr qesdiorp
288 tod qesdiort qesdiorw
304 u4 qesdioor qesdioop
312 tod qesdioot qesdioow
328 bits4 qesdflag
""")

# --- 115 subtypes 5, 6, 7, 201, 216: storage, page sets, queues ------------------------------------------------------

QSPH = structure("""
0 u2 qsphid qsphll
4 text4 qspheyec
8 i4 qsphstor qsphostor qsphxstor
20 u2 qsphbsize qsphbcnt
24 u4 qsphcount
28 text8 qsphdspnm
36 text48 qsphname
84 bits1 qsphflags
""")
QSGM = structure("""
0 u2 qsgmid qsgmll
4 text4 qsgmeyec
8 i4 qsgmlvtot qsgmlvnew qsgmlvmax qsgmlvmin qsgmcount
28 bits1 qsgmscls
32 text8 qsgmcsect
40 i4 qsgmoffset
""")
QSRS = structure("""
0 u2 qsrsid qsrsll
4 text4 qsrseyec
8 i4 qsrsphbgf qsrsphbgv qsrsphblf qsrsphblv qsrsgmbt qsrsstkt
32 u4 qsrsstrta qsrssiza qsrscrgtp qsrslimit qsrsloal qsrsoloal qsrshial qsrsohial qsrssmfl qsrssmfr
72 u4 qsrsestra qsrsesiza qsrsergtp qsrselim qsrseloal qsrsoeloal qsrsehial qsrsoehial qsrssmfel qsrssmfer
112 u8 qsrsmemlim qsrsabytes qsrsgbytes
136 u4 qsrsnmomb
140 u1 qsrsmemlims
144 u4 qsrsfmct
152 u4 qsrsaval qsrsmvs qsrscrit qsrssos
168 u8 qsrsaval64 qsrscush64 qsrssmds64 qsrsphblgf qsrsphblgv qsrsphbllf qsrsphbllv qsrsgmbl
""")
QIS1 = structure("""
0 u2 qis1id qis1ll
4 text4 qis1eyec
8 u4 qis1psno qis1bpno qis1topg qis1unpg qis1ppg qis1nppg qis1full qis1pchi qis1dwpn qis1dwpp
48 tod qis1dwpt
56 u4 qis1imwn qis1imwp
64 tod qis1imwt
72 u4 qis1getn qis1getp
80 tod qis1gett
88 u4 qis1ckpp
92 u2 qis1expn
94 u1 qis1strn qis1expm qis1stat
100 bits4 qis1flag
""")
QQST = structure("""
0 u2 qqstid qqstll
4 text4 qqsteyec
8 text48 qqstqnam
56 bits4 qqstflag
60 i2 qqstpsid qqstbpid
64 text4 qqstqsgn
68 text12 qqstcfst
80 i4 qqstdpth
84 u4 qqstopct qqstipct
92 sec4 qqstmage
96 usec4 qqstqtst qqstqtlt
104 utc qqstlput qqstlget
120 u4 qqstdphi qqstdplo
128 u8 qqstputs qqstput1 qqstnppt qqstppt qqstnpp1 qqstpp1 qqstputb qqstpt1b qqstnppb qqstppb qqstnp1b qqstp1b
224 u8 qqstflpt qqstflp1 qqstfptc qqstfptb qqststrm qqstmsmi qqstmsma qqstmsav qqstgets qqstnpdg qqstpdg qqstgetb
320 u8 qqstnpdb qqstpdb qqstbrws qqstnpbr qqstpbr qqstbrwb qqstnpbb qqstpbb qqstflgt qqstnmag qqsttmfg qqstflbr
416 u8 qqstnmab qqsttmfb qqstflgw qqstrdgw qqstflbw qqstrdbw qqstsagt qqstsabr
480 u4 qqstiphi qqstiplo qqstophi qqstoplo
496 u8 qqstopen qqstclos qqstinqr qqstset qqstexpr qqstrbpt qqstrbgt
552 u8 qqstocpa qqstocga qqstoahc qqstocpd qqstocmp qqstocgd qqstocps qqstocgs qqstoscs qqstosps qqstosns qqstocda
648 u8 qqstospl qqstoscl qqstosfs
""")

# --- 115 subtype 231 and 116 subtype 10: channel initiator -----------------------------------------------------------

QCCT = structure("""
0 u2 qcctid qcctll
4 text4 qccteyec
8 text8 qcctjobn
16 text4 qcctqsgn
20 u4 qcctnocc qcctmxcc qcctnoac qcctmxac qcctmxtp qcctmxlu
44 mib4 qcctstus
48 mib8 qcctstab qcctslim
""")
_QCT = "0 u4 qcttskn qctreqn\n8 tod qctcptm qcteltm qctwttm\n"
QCT_DSP = structure(_QCT + "32 u4 qctchln")
QCT_ADP = structure(_QCT)
QCT_SSL = structure(_QCT + "32 local qctlstm\n40 tod qctlsdu")
QCT_DNS = structure(_QCT + "32 local qctlgtm\n40 tod qctlgdu")
QCST = structure("""
0 u2 qcstid qcstll
4 text4 qcsteyec
8 utc qcstcltm
16 text20 qcstchnm
36 u1 qcstchdp qcstchty qcstchst qcststcl
40 text48 qcstcnnm
88 utc qcststrt qcstludt qcstlmst
112 u4 qcstcbsz qcstnmsg qcstnpmg qcstbatc qcstfuba qcstbfst qcstbfrc qcstcscv
144 u8 qcstnbyt qcstnpby qcstbyst qcstbyrc
176 u4 qcstcpra
180 usec4 qcstetav qcstetmn qcstetmx
192 utc qcstetdt
200 usec4 qcstdnrt qcstntav qcstntmn qcstntmx
216 utc qcstntdt
224 text48 qcstrqmn
272 hex8 qcstslsn
280 text16 qcstslcn
296 u4 qcstslcs qcstptrc qcstqetc
308 msec4 qcstcbit
312 kib4 qcstcbdl
316 u2 qcstdspn
318 hex6 qcstrsv1
324 text4 qcstrpid
328 text8 qcstrver
336 hex4 qcstrsv2
""")

# --- 116 subtypes 0, 1, 2: accounting --------------------------------------------------------------------------------

QWAC = structure("""
0 utc qwacbsc qwacesc
16 tod qwacbjst qwacejst qwacbsrb qwacesrb
48 u4 qwacrinv
52 hex16 qwacnid
68 u4 qwaccomm qwacback
76 tod qwacasc qwacajst qwacasrb qwacawti qwacawtl
116 u4 qwacarna qwacarne
124 tod qwacawtr qwacawtw qwacawte qwacalog
156 u4 qwacarnl qwacarnr qwacarnw qwacarns qwacalct
""")
QMAC = structure("""
0 u2 qmacid qmacll
4 text4 qmaceyec
8 tod qmaccput
16 u4 qmacputa qmacputb qmacputc qmacputd qmacgeta qmacgetb qmacgetc qmacgetd
""")
WTID = structure("""
0 hex2 wtidshex
2 u2 wtidlen
4 text4 wtideyec
8 u4 wtidatyp
12 text8 wtidccn wtidopid
28 hex16 wtidnid
44 hex12 wtidcori
56 hex24 wtiduowi
80 hex22 wtidacct
102 text20 wtidchl
122 text48 wtidchlc
170 hex16 wtidctxt
186 text8 wtidtran
196 hex4 wtidcfwd wtidcbwd wtidwtas
""")


def _numbered(name: str, count: int) -> str:
    return " ".join(f"{name}_{number}" for number in range(1, count + 1))


WTAS = structure(f"""
0 hex2 wtasshex
2 u2 wtaslen
4 text4 wtaseyec
8 utc wtasstrt
16 u4 wtasmthr wtaswtas
24 hex8 wtaslatc
32 u4 wtashshi
36 hex4 wtasnext wtasflag
44 u4 wtaswqct
48 tod {_numbered("wtaslwet", 32)}
304 u4 {_numbered("wtaslwn", 32)}
432 tod wtasotet wtasotct
448 u4 wtasotn
452 tod wtasmlw
460 u4 wtasmlwn
464 hex8 wtaslown
472 tod wtascmet wtascmct
488 u4 wtascmn
492 tod wtasbaet wtasbact
508 u4 wtasban
516 tod wtasjwet
524 u4 wtasjwn wtasjwb
532 tod wtasjcet
540 u4 wtasjcn wtassusn
548 tod wtassuse wtaspse0
564 u4 wtaspsn0
568 tod wtasdbet wtasdbes wtasdbmt wtasdbms
600 u4 wtasdbct wtascsec wtascmec wtasrsec wtasrmec
620 tod wtassstc wtasmstc
636 u4 wtassmrs wtassmrb wtassmwb wtassmrp wtassmwp
656 tod wtassmwt
664 utc wtasints wtasinte
680 u4 wtasgpo wtasgpn
688 hex4 wtascqf wtascqb
696 u4 wtasver
704 u8 wtasdbpt wtasdbgt
720 tod wtaspbhw wtaspbtt wtastpet wtastpct
752 u4 wtastpn
756 tod wtassuet wtassuct
772 u4 wtassun wtassusc wtassusl
784 tod wtassqet wtassqct
800 u4 wtassqn
804 tod wtasctet wtasctct
820 u4 wtasctn
824 tod wtasstet wtasstct
840 u4 wtasstn
848 tod wtasctsr
2064 tod wtaspret wtasprct
2080 u4 wtasprn
2088 tod {_numbered("wtaslmax", 32)}
""")
WQ = structure("""
0 u2 wqid wqll
4 text4 wqeye
8 u4 wqver wqnext
16 hex16 correl
32 text48 objname basename
128 utc opentime clostime
144 u4 qtype indxtype qsgdisp
156 text4 openeye
160 tod openet openct
176 u4 openn
180 text4 closeeye
184 tod closeet closect
200 u4 closen
204 text4 geteye
208 tod getet getct
224 u4 getn getbrwa getbrws geta gets geterr
248 tod getjwet
256 u4 getjwn
260 tod getpset
268 u4 getpsn
272 tod getsuset
280 u4 getsusn getepage getsmsg getexmsg
296 text4 puteye
300 tod putet putct
316 u4 putn
320 tod putjwet
328 u4 putjwn
332 tod putsuset
340 u4 putsusn
344 tod putpset
352 u4 putpsn
356 text4 put1eye
360 tod put1et put1ct
376 u4 put1n
380 tod put1jwet
388 u4 put1jwn
392 tod put1suset
400 u4 put1susn
404 tod put1pset
412 u4 put1psn
416 text4 inqeye
420 tod inqet inqct
436 u4 inqn
440 text4 seteye
444 tod setet setct
460 u4 setn
464 tod setjwet
472 u4 setjwn nps
480 text12 cfstrucname
492 u4 nbuffpool
496 u8 putbytes getbytes
512 u4 validput validget ngen getmaxms getminms putmaxms putminms
540 tod maxlatnt minlatnt totlatnt
564 u4 wqback use_count total_use getpmsg putpmsg put1pmsg maxqdpth
592 bits2 flags
596 u4 getdval
600 tod getjcet
608 u4 getjcn putpwg
616 tod putjcet
624 u4 putjcn put1pwg
632 tod put1jcet
640 u4 put1jcn
644 tod setjcet
652 u4 setjcn putdsq putigq put1igq
672 u4 selcount selmaxln
680 text4 cbeye
684 tod cbet cbct
700 u4 cbn
704 tod opensuet
712 u4 opensun
716 tod closesuet
724 u4 closesun opencf0 closecf0
2736 u4 publishedn
2752 tod topicopensrb topicputsrb topicput1srb topicclosesrb
2784 u4 putddly
2792 u4 streamedn
""")
CF_REQUESTS = structure("0 u4 cfcount cfsyncn cfsyncet cfasyncn cfasyncet")


@dataclass(frozen=True)
class Part:
    """What a self-defining triplet points at; an element size means an array inside each entry."""

    table: str
    fields: list[Field]
    triplet: int
    start: int = 0
    element: int = 0
    elements: int = 0


def _cf(table: str, triplet: int, start: int, elements: int) -> Part:
    return Part(table, CF_REQUESTS, triplet, start, 20, elements)


# Triplet numbers count from the product section's, which is 0.
PARTS: dict[tuple[int, int], list[Part]] = {
    (115, 1): [
        Part("smf115_1_section_4", SECTION_4, 4),
        Part("smf115_1_section_5", SECTION_5, 5),
        Part("smf115_1_qsst", QSST, 9),
        Part("smf115_1_qjst", QJST, 11),
    ],
    (115, 2): [
        Part("smf115_2_qmst", QMST, 1),
        Part("smf115_2_qist", QIST, 2),
        Part("smf115_2_qpst", QPST, 3),
        Part("smf115_2_qlst", QLST, 4),
        Part("smf115_2_q5st", Q5ST, 5),
        Part("smf115_2_qest", QEST, 6),
        Part("smf115_2_qest_structure", QEST_STRUCTURE, 6, 8, 64, 64),
        Part("smf115_2_qtst", QTST, 7),
        Part("smf115_2_qesd", QESD, 8),
    ],
    (115, 5): [Part("smf115_5_product", SHORT_PRODUCT, 0), Part("smf115_5_qsph", QSPH, 1)],
    (115, 6): [Part("smf115_5_product", SHORT_PRODUCT, 0), Part("smf115_6_qsgm", QSGM, 1)],
    (115, 7): [Part("smf115_5_product", SHORT_PRODUCT, 0), Part("smf115_7_qsrs", QSRS, 1)],
    (115, 201): [Part("smf115_201_qis1", QIS1, 1)],
    (115, 215): [Part("smf115_2_qpst", QPST, 1)],
    (115, 216): [Part("smf115_216_qqst", QQST, 1)],
    (115, 231): [
        Part("smf115_231_qcct", QCCT, 1),
        Part("smf115_231_qct_dsp", QCT_DSP, 2),
        Part("smf115_231_qct_adp", QCT_ADP, 3),
        Part("smf115_231_qct_ssl", QCT_SSL, 4),
        Part("smf115_231_qct_dns", QCT_DNS, 5),
    ],
    (116, 0): [Part("smf116_0_qwac", QWAC, 1), Part("smf116_0_qmac", QMAC, 2)],
    (116, 1): [
        Part("smf116_1_wtid", WTID, 1),
        Part("smf116_1_wtas", WTAS, 2),
        _cf("smf116_1_wtas_commit_cf", 2, 864, 20),
        _cf("smf116_1_wtas_prepare_cf", 2, 1264, 20),
        Part("smf116_1_wq", WQ, 3),
        _cf("smf116_1_wq_cf", 3, 736, 100),
    ],
    (116, 2): [Part("smf116_1_wtid", WTID, 1), Part("smf116_1_wq", WQ, 2), _cf("smf116_1_wq_cf", 2, 736, 100)],
    (116, 10): [Part("smf116_10_qcst", QCST, 1)],
}
CHANNEL_INITIATOR = {(115, 231), (116, 10)}
WITHOUT_QWHS = {(115, 5), (115, 6), (115, 7)}
