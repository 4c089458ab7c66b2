#if defined(__linux__)
// The library is loaded into programs without Swift, and must not load its runtime: its crash handler would keep a
// program alive after a signal. No code here needs the runtime. The linker drops it by the flags in this section, which
// it collects from object files; the package's own flags come too late on its command line.
__attribute__((section(".swift1_autolink_entries"), used, retain)) static const char flags[] = "-Wl,--as-needed";
#endif
