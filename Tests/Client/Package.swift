// swift-tools-version: 6.2
import PackageDescription

// An application that uses Strata from outside, as any other package would: by its product, with no trait. The
// dependency is named, so that the folder of the checkout may have any name.
let package = Package(
    name: "Client",
    dependencies: [.package(name: "Assay", path: "../..")],
    targets: [
        .executableTarget(
            name: "Client",
            dependencies: [.product(name: "Strata", package: "Assay")],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
    ]
)
