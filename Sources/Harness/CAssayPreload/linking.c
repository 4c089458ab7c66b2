#if defined(__linux__)
// The library is loaded into programs without Swift, and must not load Swift's runtime: the runtime's crash handler
// would keep a program alive after a signal. No code here needs the runtime. The flags in this section, which the
// linker collects from object files, make it drop the runtime; the package's own flags come too late on its command
// line.
__attribute__((section(".swift1_autolink_entries"), used, retain)) static const char flags[] = "-Wl,--as-needed";
#endif
