/// Does the work of one of the harness's workloads on Strata through its public interface, and prints one line of JSON.
@main
enum ControlMain {
    static func main() throws {
        var workloads = try Workloads(Request(Array(CommandLine.arguments.dropFirst())))
        try workloads.run()
    }
}
