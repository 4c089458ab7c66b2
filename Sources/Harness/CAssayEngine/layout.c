// The layout that libraries are compiled against: a member that moves would be another ABI.
#include "assay_engine.h"

#define STANDS(member, place) \
    _Static_assert(offsetof(struct assay_engine, member) == (place), #member " has moved: that is another ABI")

#if UINTPTR_MAX == UINT64_MAX
STANDS(abi, 0);
STANDS(size, 4);
STANDS(name, 8);
STANDS(version, 16);
STANDS(capabilities, 24);
STANDS(promises, 32);
STANDS(files, 40);
STANDS(longest_key, 48);
STANDS(longest_value, 56);
STANDS(allows_empty_key, 64);
STANDS(threads, 68);
STANDS(settings, 72);
STANDS(open, 80);
STANDS(close, 88);
STANDS(begin, 96);
STANDS(get, 104);
STANDS(put, 112);
STANDS(delete_key, 120);
STANDS(scan, 128);
STANDS(next, 136);
STANDS(end_scan, 144);
STANDS(commit, 152);
STANDS(abort, 160);
STANDS(last_error, 168);
STANDS(compact, 176);
STANDS(check, 184);
STANDS(live_bytes, 192);
#endif

// C requires a translation unit to define something.
extern const unsigned assay_engine_abi;
const unsigned assay_engine_abi = ASSAY_ENGINE_ABI;
