// swift-tools-version: 6.2
import PackageDescription

// A separate application, which leaves a store of Core Data by the product StoreMigration.
let package = Package(
    name: "ModelStore",
    dependencies: [.package(name: "Assay", path: "../..", traits: ["SQLite"])],
    targets: [
        .executableTarget(
            name: "ModelStore",
            dependencies: [
                .product(name: "Strata", package: "Assay"), .product(name: "StoreMigration", package: "Assay"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
    ]
)
