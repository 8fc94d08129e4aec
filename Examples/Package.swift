// swift-tools-version: 6.1
import PackageDescription

// A package of its own, as an app author has one. Each program is a recipe of Documentation/recipes.md and runs against
// `fieldwork demo`.
let package = Package(
    name: "fieldwork-examples",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "fieldwork", path: "..")],
    targets: ["ReadMap", "EditReports", "InspectTree", "Selections"].map { name in
        .executableTarget(name: name, dependencies: [.product(name: "Fieldwork", package: "fieldwork")])
    },
    swiftLanguageModes: [.v6]
)
