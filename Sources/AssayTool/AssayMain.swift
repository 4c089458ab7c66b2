@main enum AssayMain { static func main() {} }
