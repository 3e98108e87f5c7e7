// What the driver does for a library that launches kernels of its own: its work waits in a stream like ours, and what it
// touches is looked at when it runs. A library finds these two in the driver that is loaded.
#pragma once
#include <cstddef>

// `run` is done with `data` when the stream comes to it, and `drop` when nobody will ask for it again. A code other than
// 0 of `run` loses the context. The result is the driver's code for the call.
using LibraryWork = int(void* stream, int (*run)(void*), void (*drop)(void*), void* data);
// Of an argument of a call, in words: so many lines of so many bytes, `apart` bytes from one to the next. 0, or the code
// of what is wrong with it: bounds, life, bytes that nobody wrote. Written ones count as such from then on.
using LibraryTouch = int(const char* argument, const void* at, size_t lines, size_t bytes, size_t apart, int writes);
