// swift-tools-version: 6.1
import PackageDescription

// A package of its own: it measures the built `fieldwork` from outside, over a socket, beside plain SQLite.
let package = Package(
    name: "fieldwork-benchmarks",
    targets: [
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "BenchResults"),
        .executableTarget(name: "bench", dependencies: ["BenchResults", "CSQLite"]),
        .testTarget(name: "BenchResultsTests", dependencies: ["BenchResults"]),
    ],
    swiftLanguageModes: [.v6]
)
