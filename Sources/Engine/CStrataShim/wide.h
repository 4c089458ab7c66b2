// Functions marked WIDE are also compiled for wider vector units; the loader selects the variant for the machine.
#pragma once

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
// With clones the loader would call a function that chooses among them before the sanitizer is ready.
#define WIDE
#endif
#endif
#if defined(WIDE)
#elif defined(__x86_64__) && defined(__linux__)
#define WIDE __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define WIDE
#endif

#define INLINE static inline __attribute__((always_inline))
