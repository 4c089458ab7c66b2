#include "CStrataShim.h"
#include <string.h>

// Functions of Swift's runtime, called here as compiled code calls them.
void *swift_retain(void *object);
void swift_release(void *object);
void *swift_unownedRetain(void *object);
void swift_unownedRelease(void *object);
void *swift_weakInit(void *reference, void *object);
void swift_weakDestroy(void *reference);
// A retain without atomics, for an object that only one thread uses.
void *swift_nonatomic_retain(void *object);

uint64_t strata_counts_alone(void *object) {
    uint64_t alone = strata_reference_counts(object);
    swift_retain(object);
    int tells = strata_reference_counts(object) != alone;
    swift_release(object);
    tells &= strata_reference_counts(object) == alone;
    swift_unownedRetain(object);
    tells &= strata_reference_counts(object) != alone;
    swift_unownedRelease(object);
    tells &= strata_reference_counts(object) == alone;
    void *reference[2] = {NULL, NULL};
    swift_weakInit(reference, object);
    tells &= strata_reference_counts(object) != alone;
    swift_weakDestroy(reference);
    return tells ? alone : 0;
}

void strata_retain_alone(void *object) { swift_nonatomic_retain(object); }

_Thread_local uint64_t strata_steps;

static _Thread_local void *assignments;
void *strata_assignments(void) { return assignments; }
void strata_keep_assignments(void *run) { assignments = run; }

__attribute__((noinline)) void strata_object_ends(void) { __asm__ volatile(""); }

#if defined(__x86_64__) && defined(__LP64__)

// A harmless instruction has no effect that a program could see: it changes registers, flags and the stack only, and
// may read any memory. strata_ends_plainly steps over harmless instructions, and follows jumps and calls.

// The length of the bytes that describe an instruction's operand: ModRM, SIB and displacement. `is_stack`: whether the
// operand is in memory of the stack; `is_register`: whether it is a register.
static int operand_length(const uint8_t *code, int *is_register, int *is_stack) {
    int mode = code[0] >> 6, base = code[0] & 7;
    int length = 1;
    *is_register = mode == 3;
    *is_stack = 0;
    if (mode == 3) return length;
    int is_indexed = 0;
    if (base == 4) {
        is_indexed = (code[1] >> 3 & 7) != 4;
        base = code[1] & 7;
        length++;
        if (mode == 0 && base == 5) return length + 4;
        *is_stack = base == 4 && !is_indexed;
    } else {
        *is_stack = base == 5 && mode != 0;
    }
    if (mode == 0 && base == 5) return length + 4;
    return length + (mode == 1 ? 1 : mode == 2 ? 4 : 0);
}

// The length of a harmless instruction; 0 for every other one.
static int harmless_length(const uint8_t *code) {
    static const uint8_t landing[] = {0xF3, 0x0F, 0x1E, 0xFA};
    if (memcmp(code, landing, sizeof landing) == 0) return 4;
    int prefix = (code[0] & 0xF0) == 0x40;
    // With such a prefix the numbers of the stack pointer and the frame pointer mean other registers.
    int is_wide = prefix && code[0] & 8, has_other_base = prefix && code[0] & 3;
    const uint8_t *at = code + prefix;
    int is_register, is_stack;
    switch (at[0]) {
    case 0x50 ... 0x5F:  // push, pop
        return prefix + 1;
    case 0x90: return prefix ? 0 : 1;
    case 0xB8 ... 0xBF:  // a constant
        return prefix + (is_wide ? 9 : 5);
    case 0x31: case 0x33:  // xor of registers
        operand_length(at + 1, &is_register, &is_stack);
        return is_register ? prefix + 2 : 0;
    case 0x8B: case 0x8D:  // a load, an address
        return prefix + 1 + operand_length(at + 1, &is_register, &is_stack);
    case 0x89: {  // a register to a register or to the stack
        int length = operand_length(at + 1, &is_register, &is_stack);
        return is_register || (is_stack && !has_other_base) ? prefix + 1 + length : 0;
    }
    case 0xC7: {  // a constant to the stack
        int length = operand_length(at + 1, &is_register, &is_stack);
        return is_stack && !has_other_base ? prefix + 1 + length + 4 : 0;
    }
    case 0x81: case 0x83:  // the stack pointer, by a constant
        if (!is_wide || has_other_base || (at[1] != 0xEC && at[1] != 0xC4)) return 0;
        return prefix + 2 + (at[0] == 0x81 ? 4 : 1);
    default: return 0;
    }
}

static int32_t distance(const uint8_t *code) {
    int32_t value;
    memcpy(&value, code, sizeof value);
    return value;
}

int strata_ends_plainly(const void *metadata) {
    // The pointer to the destructor is two words before the address of the class.
    const uint8_t *code;
    memcpy(&code, (const uint8_t *)metadata - 2 * sizeof(void *), sizeof code);
    for (int steps = 0; steps < 256 && code; steps++) {
        if (code == (const uint8_t *)(uintptr_t)strata_object_ends) return 1;
        if (code[0] == 0xE8 || code[0] == 0xE9) {  // call, jump
            code += 5 + distance(code + 1);
        } else if (code[0] == 0xEB) {
            code += 2 + (int8_t)code[1];
        } else if (code[0] == 0xFF && (code[1] == 0x15 || code[1] == 0x25)) {  // call, jump through a table's entry
            memcpy(&code, code + 6 + distance(code + 2), sizeof code);
        } else {
            int length = harmless_length(code);
            if (length == 0) return 0;
            code += length;
        }
    }
    return 0;
}

#else

int strata_ends_plainly(const void *metadata) {
    (void)metadata;
    return 0;
}

#endif
