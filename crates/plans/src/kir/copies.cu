// Copies from memory into shared memory for which no thread waits, where the architecture has them (sm_80 and later): an
// item goes past the registers, and a thread has as many on their way as it asked for. `copies_done` waits for its own. What knows no PTX defines NO_PTX.
template <class T> DEV void copy_async(T* to, const T* from) {
#if __CUDA_ARCH__ >= 800 && !defined(NO_PTX)
  u32 at = (u32)__cvta_generic_to_shared(to);
  u64 of = (u64)__cvta_generic_to_global(from);
  if (sizeof(T) == 8) asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" :: "r"(at), "l"(of) : "memory");
  else asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at), "l"(of) : "memory");
#else
  *to = *from;
#endif
}
DEV void copies_done() {
#if __CUDA_ARCH__ >= 800 && !defined(NO_PTX)
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
