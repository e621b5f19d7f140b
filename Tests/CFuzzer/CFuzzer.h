// libFuzzer's driver, which has no header of its own: LLVM, "libFuzzer", section "Using libFuzzer as a library".
#pragma once
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver (int *argc, char ***argv, int (*one_input) (const uint8_t *bytes, size_t count));
