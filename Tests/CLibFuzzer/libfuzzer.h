#include <stddef.h>
#include <stdint.h>

/// Runs libFuzzer, which calls a function with input after input. It's in the library that the
/// compiler links with `-sanitize=fuzzer`, for programs that have a `main` function.
int LLVMFuzzerRunDriver(
    int *argc, char ***argv, int (*run)(const uint8_t *bytes, size_t count));
