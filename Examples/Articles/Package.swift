// swift-tools-version: 6.2
import PackageDescription

// A separate application, which uses the product Strata.
let package = Package(
    name: "Articles",
    dependencies: [.package(name: "Assay", path: "../..")],
    targets: [
        .executableTarget(
            name: "Articles",
            dependencies: [.product(name: "Strata", package: "Assay")],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
    ]
)
