//! Asks the processor for memory before it is needed.
//!
//! A tree of millions of nodes lies outside the caches, and going down it is waiting for memory. The steps of a round
//! do not depend on each other: what the next ones need is on its way while one is dealt out.

/// Asks for the cache line of `item`.
#[inline]
pub(crate) fn prefetch<T>(item: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and changes nothing that a program can see, at any address; this one is
        // of a live reference. SSE, which has it, is part of x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}
