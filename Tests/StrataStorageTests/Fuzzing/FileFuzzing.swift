import StrataFiles

@testable import StrataStorage

/// A data file that the fuzzer changes with valid checksums: its input is a list of changes to nodes and slots of a
/// small file, after which all checksums are recomputed.
enum FileFuzzing {
    private static let bases: [CraftedFile] = {
        do {
            return try [(1, 40), (2, 150)].map { CraftedFile(try FileImages.clean(seed: $0, steps: $1).data) }
        } catch { return [] }
    }()

    private static let mostChanges = 12

    static func run(_ input: inout FuzzInput) {
        let choice = input.byte()
        guard bases.count == 2 else { fatalError("no file to begin with") }
        var file = bases[choice & 1]
        var changes = 0
        while !input.isAtEnd && changes < mostChanges {
            change(&file, &input)
            changes += 1
        }
        do {
            let disk = FileImages.Disk(isPersistent: choice & 2 == 0)
            try disk.put(file.bytes, at: FileImages.path)
            var options = FileImages.options(on: disk)
            options.readOnly = choice & 12 == 12
            StoreExercise(seed: UInt64(choice >> 4)).run(options, path: FileImages.path)
        } catch { fatalError("no memory for a file: \(error)") }
    }

    private static func change(_ file: inout CraftedFile, _ input: inout FuzzInput) {
        let kind = input.byte()
        let node = input.byte()
        if kind & 15 == 15 {
            file.changeSlot(node & 1) { write(&input, kind >> 4, UnsafeMutableRawBufferPointer(rebasing: $0[8...])) }
        } else if kind & 15 == 14 {
            file.alias(from: node, to: input.byte(), keeping: kind >> 4)
        } else {
            file.change(node % file.nodes.count) { write(&input, kind, $0) }
        }
    }

    /// A number of 1, 2, 4 or 8 bytes, or a copy of 24 bytes, at a place that is often one of the first.
    private static func write(_ input: inout FuzzInput, _ kind: Int, _ bytes: UnsafeMutableRawBufferPointer) {
        let place = kind & 4 == 0 ? input.byte() : Int(input.number())
        let width = 1 << (kind & 3)
        if kind & 8 != 0 {
            let source = Int(input.number())
            for index in 0..<24 where place + index < bytes.count && source + index < bytes.count {
                bytes[place + index] = bytes[source + index]
            }
            return
        }
        for index in 0..<width {
            let byte = UInt8(input.byte())
            if place + index < bytes.count { bytes[place + index] = byte }
        }
    }

    static func seeds() -> [[UInt8]] {
        var seeds: [[UInt8]] = (0..<8 as Range<UInt8>).map { [$0 &* 37] }
        for node in 0..<24 as Range<UInt8> {
            seeds.append([node & 3 | node << 4, 1, node, 6, 1, 0, 2, 1, node, 24, 0xFF, 0, 0, 0])
            seeds.append([node << 4, 14 | node << 4, node, node &+ 1, 15, node & 1, 40, 9])
        }
        return seeds
    }
}

extension CraftedFile {
    /// Redirects one reference to another one's target.
    /// - Parameter keeping: what the redirected reference keeps: 1 its kind, 2 its checksum.
    mutating func alias(from: Int, to: Int, keeping: Int) {
        let places = nodes.flatMap(\.places)
        let source = places[from % places.count].offset
        let target = places[to % places.count]
        var reference = Array(bytes[source..<(source + NodeReference.size)])
        if keeping & 1 != 0 { reference[6] = bytes[target.offset + 6] }
        if keeping & 2 != 0 {
            reference.replaceSubrange(8..<16, with: bytes[(target.offset + 8)..<(target.offset + 16)])
        }
        put(reference, at: target)
    }
}
