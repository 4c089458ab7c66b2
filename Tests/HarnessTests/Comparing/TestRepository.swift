import Files
import Platform
import Testing

@testable import Harness

/// A git repository with commits of a program that is a shell script, and a stand-in for the compiler that copies it.
struct TestRepository {
    let directory: TestDirectory
    var path: String { directory.path + "/repository" }
    var builds: String { directory.path + "/builds" }
    /// A log with a line per build.
    var calls: String { directory.path + "/calls" }
    var compiler: String { directory.path + "/compiler" }

    static let manifest = "// \"AssayTool\" \"AssayPreload\"\n.trait(name: \"SQLite\")\n"

    init(_ directory: TestDirectory) throws {
        self.directory = directory
        try FileTree.createDirectory(path + "/Tools")
        try git(["init", "--quiet", "--initial-branch=main", path])
        try write("Package.swift", Self.manifest)
        try write("Tools/traits", "#!/bin/sh\necho Zoology,SQLite\n", isProgram: true)
        try write(".gitignore", ".build/\n")
        // Copies the sources, and fails on a file `broken` among them.
        try FileTree.writeText(
            compiler,
            """
            #!/bin/sh
            [ "$1" = --version ] && { echo "stand-in 1"; exit 0; }
            echo "$*" >>'\(calls)'
            while [ $# -gt 0 ]; do
                case "$1" in
                    --package-path) source=$2 ;;
                    --scratch-path) products=$2 ;;
                    --product) product=$2 ;;
                esac
                shift
            done
            [ -e "$source/hangs" ] && { echo $$ >'\(calls).hangs'; sleep 600; }
            [ -e "$source/full" ] && { echo "error: write: No space left on device"; exit 1; }
            [ -e "$source/killed" ] && kill -KILL $$
            [ -e "$source/broken" ] && { echo "one.swift:3:1: error: no such thing"; exit 1; }
            mkdir -p "$products/release"
            if [ "$product" = assay ]; then cp "$source/program" "$products/release/assay"
            elif [ ! -e "$source/lacks" ]; then echo library >"$products/release/lib$product.so"; fi

            """)
        try #require(chmod(compiler, 0o755) == 0)
    }

    func git(_ words: [String]) throws {
        let log = directory.path + "/git.log"
        let identity = [
            "-c", "user.name=Tester", "-c", "user.email=tester@example.invalid", "-c", "commit.gpgsign=false",
        ]
        let end = try ChildProgram(["git"] + identity + words, outputFile: log).run()
        let said = try FileTree.readText(log)
        try #require(end == .exited(0), "git \(words): \(said)")
    }

    func write(_ name: String, _ text: String, isProgram: Bool = false) throws {
        try FileTree.writeText(path + "/" + name, text)
        if isProgram { try #require(chmod(path + "/" + name, 0o755) == 0) }
    }

    /// A commit with this text as its program.
    @discardableResult
    func commit(_ subject: String, program: String, also files: [String: String] = [:]) throws -> Revision {
        try write("program", program, isProgram: true)
        for (name, text) in files { try write(name, text) }
        try git(["-C", path, "add", "--all"])
        try git(["-C", path, "commit", "--quiet", "--allow-empty", "-m", subject])
        return try repository().revision("HEAD")
    }

    func repository() throws -> Repository { try Repository(around: path, scratch: directory.path) }

    func revisionBuilds() throws -> RevisionBuilds {
        try RevisionBuilds(try repository(), directory: builds, scratch: directory.path, compiler: compiler)
    }

    func callCount() throws -> Int {
        FileTree.exists(calls) ? try FileTree.readText(calls).split(separator: "\n").count : 0
    }
}
