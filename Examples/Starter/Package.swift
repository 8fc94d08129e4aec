// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "Starter",
    platforms: [.macOS(.v15)],
    dependencies: [
        // Or: .package(url: "the address of the repository", from: "0.1.0")
        .package(name: "fieldwork", path: "../..")
    ],
    targets: [
        .executableTarget(name: "Starter", dependencies: [.product(name: "Fieldwork", package: "fieldwork")])
    ]
)
