// swift-tools-version: 6.2
import PackageDescription

// The program that docs/getting-started.md and the pages behind it build, as a package of its own.
let package = Package(
    name: "Guide",
    dependencies: [.package(name: "Assay", path: "../..")],
    targets: [
        .executableTarget(
            name: "Guide",
            dependencies: [.product(name: "Strata", package: "Assay")],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
    ]
)
