// LIKELY_CLONES: a function compiled for newer processors too, and chosen when the program starts; the arithmetic is the same.
#pragma once

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define LIKELY_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define LIKELY_CLONES
#endif
