// swift-tools-version: 6.2
import PackageDescription

// The control of Strata: a program that uses the product Strata as any other package would, and nothing of the harness.
let package = Package(
    name: "ControlStrata",
    dependencies: [.package(name: "Assay", path: "../../..")],
    targets: [
        .executableTarget(
            name: "ControlStrata",
            dependencies: [.product(name: "Strata", package: "Assay")],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)],
            // The loader binds all functions at the start, as in the other controls and in Assay: no figure includes
            // the look-up of a function.
            linkerSettings: [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "now"], .when(platforms: [.linux]))])
    ]
)
