-- Calls to services of ICSF. A service exists above a data level of ICSF (R702CDLV).
select system, sysplex, interval_start, interval_end, utc_offset, one.service as service,
    seconds_between(interval_start, interval_end) as interval_seconds,
    one.calls as calls, one.bytes as bytes, one.operations as operations
from (
    select *,
        unnest([
            {'service': 'encipher, DES', 'above': -1, 'calls': r702snec::double, 'bytes': r702sneb::double, 'operations': r702snei::double},
            {'service': 'encipher, triple DES', 'above': -1, 'calls': r702tnec::double, 'bytes': r702tneb::double, 'operations': r702tnei::double},
            {'service': 'decipher, DES', 'above': -1, 'calls': r702sndc::double, 'bytes': r702sndb::double, 'operations': r702sndi::double},
            {'service': 'decipher, triple DES', 'above': -1, 'calls': r702tndc::double, 'bytes': r702tndb::double, 'operations': r702tndi::double},
            {'service': 'generate MAC, DES', 'above': -1, 'calls': r702nmgc::double, 'bytes': r702nmgb::double, 'operations': r702nmgi::double},
            {'service': 'verify MAC, DES', 'above': -1, 'calls': r702nmvc::double, 'bytes': r702nmvb::double, 'operations': r702nmvi::double},
            {'service': 'hash, SHA-1', 'above': -1, 'calls': r702nhac::double, 'bytes': r702nhab::double, 'operations': r702nhai::double},
            {'service': 'hash, SHA-224 and SHA-256', 'above': -1, 'calls': r702nh2c::double, 'bytes': r702nh2b::double, 'operations': r702nh2i::double},
            {'service': 'hash, SHA-384 and SHA-512', 'above': -1, 'calls': r702nh5c::double, 'bytes': r702nh5b::double, 'operations': r702nh5i::double},
            {'service': 'translate PIN', 'above': -1, 'calls': r702nptc::double, 'bytes': null::double, 'operations': null::double},
            {'service': 'verify PIN', 'above': -1, 'calls': r702npvc::double, 'bytes': null::double, 'operations': null::double},
            {'service': 'encipher, AES', 'above': 11, 'calls': r702aesc::double, 'bytes': r702aesb::double, 'operations': r702aesi::double},
            {'service': 'decipher, AES', 'above': 11, 'calls': r702asdc::double, 'bytes': r702asdb::double, 'operations': r702asdi::double},
            {'service': 'generate signature, RSA', 'above': 13, 'calls': r702drgc::double, 'bytes': null::double, 'operations': null::double},
            {'service': 'verify signature, RSA', 'above': 13, 'calls': r702drvc::double, 'bytes': null::double, 'operations': null::double},
            {'service': 'generate signature, ECC', 'above': 13, 'calls': r702degc::double, 'bytes': null::double, 'operations': null::double},
            {'service': 'verify signature, ECC', 'above': 13, 'calls': r702devc::double, 'bytes': null::double, 'operations': null::double},
            {'service': 'generate MAC, AES', 'above': 17, 'calls': r702amgc::double, 'bytes': r702amgb::double, 'operations': r702amgi::double},
            {'service': 'verify MAC, AES', 'above': 17, 'calls': r702amvc::double, 'bytes': r702amvb::double, 'operations': r702amvi::double},
            {'service': 'encipher, FPE', 'above': 19, 'calls': r702fpec::double, 'bytes': r702fpeb::double, 'operations': r702fpei::double},
            {'service': 'decipher, FPE', 'above': 19, 'calls': r702fpdc::double, 'bytes': r702fpdb::double, 'operations': r702fpdi::double},
            {'service': 'translate, FPE', 'above': 19, 'calls': r702fptc::double, 'bytes': r702fptb::double, 'operations': r702fpti::double},
            {'service': 'encipher, FFX', 'above': 22, 'calls': r702fxec::double, 'bytes': r702fxeb::double, 'operations': r702fxei::double},
            {'service': 'decipher, FFX', 'above': 22, 'calls': r702fxdc::double, 'bytes': r702fxdb::double, 'operations': r702fxdi::double},
            {'service': 'translate, FFX', 'above': 22, 'calls': r702fxtc::double, 'bytes': r702fxtb::double, 'operations': r702fxti::double},
            {'service': 'generate signature, QSA', 'above': 22, 'calls': r702dqgc::double, 'bytes': null::double, 'operations': null::double},
            {'service': 'verify signature, QSA', 'above': 22, 'calls': r702dqvc::double, 'bytes': null::double, 'operations': null::double}
        ]) as one
    from smf70_2_icsf
)
where coalesce(r702cdlv, 0) > one.above
