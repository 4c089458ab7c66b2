// swift-tools-version: 6.2
import PackageDescription

// An application of its own, as yours would be: it uses Strata by its product.
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
