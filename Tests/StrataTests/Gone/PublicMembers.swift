import Foundation

/// The public members of the module Strata, extracted by the compiler's tool from the module that the tests use.
enum PublicMembers {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private struct Graph: Decodable {
        struct Symbol: Decodable {
            struct Kind: Decodable { let identifier: String }
            struct Identifier: Decodable { let precise: String }

            let kind: Kind
            let identifier: Identifier
            let pathComponents: [String]
        }

        let symbols: [Symbol]
    }

    /// `Type.member(labels:)` of all methods, properties and subscripts, with `*2` for two of one name. Members that an
    /// internal protocol gives its conforming types count as that protocol's.
    /// - Parameter types: the types to list.
    static func all(of types: Set<String>) throws -> Set<String> {
        var names: [String: Set<String>] = [:]
        var inherited: [String: (member: String, types: Set<String>)] = [:]
        for symbol in try graphs().flatMap(\.symbols) {
            let kinds = ["swift.method", "swift.property", "swift.subscript"]
            guard kinds.contains(symbol.kind.identifier), let member = symbol.pathComponents.last,
                !member.hasPrefix("_")
            else { continue }
            let type = symbol.pathComponents.dropLast().joined(separator: ".")
            let precise = symbol.identifier.precise.components(separatedBy: "::SYNTHESIZED::")
            guard types.contains(type) else { continue }
            if precise.count == 1 {
                names["\(type).\(member)", default: []].insert(precise[0])
            } else {
                inherited[precise[0], default: (member, [])].types.insert(type)
            }
        }
        let declared = names.values.reduce(into: Set()) { $0.formUnion($1) }
        for (precise, (member, types)) in inherited where !declared.contains(precise) {
            let owner = types.count == 1 ? types.first ?? "" : "_PlacedCollection"
            names["\(owner).\(member)", default: []].insert(precise)
        }
        return Set(names.map { $0.value.count == 1 ? $0.key : "\($0.key)*\($0.value.count)" })
    }

    private static func graphs() throws -> [Graph] {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "strata-members-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let process = Process()
        process.executableURL = try tool()
        process.arguments = try arguments(folder)
        let output = Pipe()
        process.standardError = output
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: "swift-symbolgraph-extract: \(String(decoding: text, as: UTF8.self))")
        }
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil).map {
            try JSONDecoder().decode(Graph.self, from: Data(contentsOf: $0))
        }
    }

    private static func tool() throws -> URL {
        for folder in (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":") {
            let url = URL(fileURLWithPath: "\(folder)/swift-symbolgraph-extract")
            if FileManager.default.isExecutableFile(atPath: url.path) { return url }
        }
        throw Failure(description: "there is no swift-symbolgraph-extract in PATH; it is a part of the toolchain")
    }

    private static func arguments(_ folder: URL) throws -> [String] {
        // The test bundle stands beside the built modules.
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let products = URL(fileURLWithPath: program).deletingLastPathComponent()
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../../../Sources/Engine")
        var maps = [products.appendingPathComponent("CStrataShim.build/module.modulemap")]
        for room in try FileManager.default.contentsOfDirectory(at: sources, includingPropertiesForKeys: nil) {
            maps.append(room.appendingPathComponent("module.modulemap"))
        }
        #if arch(arm64)
            let target = "aarch64-unknown-linux-gnu"
        #else
            let target = "x86_64-unknown-linux-gnu"
        #endif
        let known = maps.filter { FileManager.default.fileExists(atPath: $0.path) }
        return [
            "-module-name", "Strata", "-target", target, "-I", products.appendingPathComponent("Modules").path, "-I",
            products.path, "-minimum-access-level", "public", "-skip-synthesized-members", "-output-dir", folder.path,
        ] + known.flatMap { ["-Xcc", "-fmodule-map-file=\($0.path)"] }
    }
}
