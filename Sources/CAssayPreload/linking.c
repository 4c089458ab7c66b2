#if defined(__linux__)
// The library is loaded into programs that know nothing of Swift, and must not bring its runtime along: that has a
// crash handler, under which a program that was sent a signal lives on. Nothing here needs it, so the linker is told to
// leave out what is not needed, by the words that it collects from object files; flags of the package come too late on
// its command line.
__attribute__((section(".swift1_autolink_entries"), used, retain)) static const char flags[] = "-Wl,--as-needed";
#endif
