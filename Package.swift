// swift-tools-version: 6.1
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// Code that was written for the vendor's SDK says `import ArcGIS`; this is how it finds Fieldwork.
let arcGISAlias: [SwiftSetting] = [.unsafeFlags(["-module-alias", "ArcGIS=Fieldwork"])]

let package = Package(
    name: "fieldwork",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "Fieldwork", targets: ["Fieldwork"]),
        .library(name: "FieldworkArcade", targets: ["FieldworkArcade"]),
        .executable(name: "fieldwork", targets: ["FieldworkCommand"]),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.1.0"),
    ],
    targets: [
        // The edge: C libraries, each seen by exactly one Swift module.
        .systemLibrary(name: "CGEOS", pkgConfig: "geos", providers: [.apt(["libgeos-dev"]), .brew(["geos"])]),
        .systemLibrary(name: "CPROJ", pkgConfig: "proj", providers: [.apt(["libproj-dev"]), .brew(["proj"])]),
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .systemLibrary(name: "CMalloc"),
        // What `make build` and `make package` say of the commit.
        .target(
            name: "CFieldworkBuild",
            cSettings: Context.environment["FIELDWORK_COMMIT"].map { [.define("FIELDWORK_COMMIT", to: "\"\($0)\"")] }),
        .systemLibrary(name: "CSQLiteSettings"),
        // Reading SQLite files through memory mappings, safe from files that shrink.
        .target(name: "CMappedFiles"),
        // Writing what a transaction adds to a log in one call.
        .target(name: "CLogWriting"),
        // Reading a SQLite file that lies within another file.
        .target(name: "CFileParts"),
        // Ids that a query of SQLite is to take its rows by.
        .target(name: "CListedIDs"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(
            name: "CDeflate", pkgConfig: "libdeflate", providers: [.apt(["libdeflate-dev"]), .brew(["libdeflate"])]),
        .systemLibrary(
            name: "CTurboJPEG", pkgConfig: "libturbojpeg",
            providers: [.apt(["libturbojpeg0-dev"]), .brew(["jpeg-turbo"])]),
        .systemLibrary(name: "CZBar", pkgConfig: "zbar", providers: [.apt(["libzbar-dev"]), .brew(["zbar"])]),
        .systemLibrary(
            name: "CQREncode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"]), .brew(["qrencode"])]),

        .systemLibrary(
            name: "CFreeType", pkgConfig: "freetype2", providers: [.apt(["libfreetype-dev"]), .brew(["freetype"])]),
        .systemLibrary(
            name: "CCairo", pkgConfig: "cairo",
            providers: [.apt(["libcairo2-dev", "libpango1.0-dev"]), .brew(["cairo", "pango"])]),

        .target(name: "FieldworkGeometry", dependencies: ["CGEOS", "CPROJ"], swiftSettings: strict),
        .target(name: "FieldworkArcade", dependencies: ["FieldworkGeometry"], swiftSettings: strict),
        .target(
            name: "FieldworkREST", dependencies: ["FieldworkGeometry", "CZlib", "CDeflate"], swiftSettings: strict),
        .target(
            name: "FieldworkStore",
            dependencies: [
                "FieldworkREST", "FieldworkArcade", "FieldworkGeometry", "CSQLiteSettings", "CMappedFiles",
                "CLogWriting", "CFileParts", "CListedIDs",
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict),
        .target(name: "FieldworkOSM", dependencies: ["FieldworkREST"], swiftSettings: strict),
        .target(
            name: "FieldworkLocator",
            dependencies: ["FieldworkOSM", "FieldworkStore", "FieldworkREST", "FieldworkGeometry"],
            swiftSettings: strict),
        .target(
            name: "FieldworkTiles",
            dependencies: [
                "FieldworkOSM", "FieldworkArcade", "FieldworkREST", "FieldworkGeometry", "CFreeType",
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: strict),
        .target(name: "FieldworkJPEG", dependencies: ["CTurboJPEG"], swiftSettings: strict),
        .target(
            name: "FieldworkDrawing",
            dependencies: ["FieldworkTiles", "FieldworkREST", "FieldworkGeometry", "FieldworkJPEG", "CCairo"],
            swiftSettings: strict),
        .target(
            name: "FieldworkPostGIS",
            dependencies: ["FieldworkStore", "FieldworkREST", "FieldworkGeometry", "CPostgres"],
            swiftSettings: strict),
        .target(
            name: "FieldworkPortal",
            dependencies: [
                "FieldworkStore", "FieldworkREST", "FieldworkGeometry",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            swiftSettings: strict),
        .target(
            name: "FieldworkPublishing", dependencies: ["FieldworkStore", "FieldworkREST", "FieldworkGeometry"],
            swiftSettings: strict),
        .target(
            name: "Fieldwork",
            dependencies: [
                "FieldworkTiles", "FieldworkArcade", "FieldworkLocator", "FieldworkStore", "FieldworkREST",
                "FieldworkGeometry",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .target(
            name: "FieldworkServer",
            dependencies: [
                "FieldworkDrawing", "FieldworkArcade", "FieldworkLocator", "FieldworkPortal", "FieldworkPublishing",
                "FieldworkTiles", "FieldworkStore", "FieldworkREST", "FieldworkGeometry",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict),
        .target(
            name: "FieldworkCollect",
            dependencies: [
                "Fieldwork", "FieldworkTiles", "FieldworkJPEG", "CZBar", "CQREncode",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Mustache", package: "swift-mustache"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            resources: [.copy("Resources")],
            swiftSettings: strict),
        .executableTarget(
            name: "FieldworkCommand",
            dependencies: [
                "Fieldwork", "FieldworkArcade", "FieldworkLocator", "FieldworkServer", "FieldworkCollect",
                "FieldworkPostGIS", "FieldworkPortal", "FieldworkPublishing", "FieldworkTiles", "FieldworkOSM",
                "FieldworkStore", "FieldworkREST", "FieldworkGeometry", "CMalloc", "CFieldworkBuild",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            resources: [.copy("Demo/Maps")],
            swiftSettings: strict),

        // Sample programs, with an app author's settings. Each runs against `fieldwork demo`.
        .executableTarget(name: "ReadMap", dependencies: ["Fieldwork"], path: "Examples/Sources/ReadMap"),
        .executableTarget(name: "EditReports", dependencies: ["Fieldwork"], path: "Examples/Sources/EditReports"),
        .executableTarget(name: "InspectTree", dependencies: ["Fieldwork"], path: "Examples/Sources/InspectTree"),
        .executableTarget(name: "KeepPhoto", dependencies: ["Fieldwork"], path: "Examples/Sources/KeepPhoto"),
        .executableTarget(name: "Selections", dependencies: ["Fieldwork"], path: "Examples/Sources/Selections"),
        .executableTarget(name: "Starter", dependencies: ["Fieldwork"], path: "Examples/Starter/Sources/Starter"),
        // What `make bench` runs to measure the SDK as an app uses it.
        .executableTarget(name: "bench-sdk", dependencies: ["Fieldwork"], path: "Benchmarks/Sources/bench-sdk"),

        // Measures expressions alone.
        .executableTarget(
            name: "bench-arcade", dependencies: ["FieldworkArcade"], path: "Benchmarks/Sources/bench-arcade",
            swiftSettings: strict),

        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: strict),
        // A browser that tests drive.
        .target(name: "BrowserSupport", path: "Tests/BrowserSupport", swiftSettings: strict),
        .testTarget(
            name: "FieldworkGeometryTests", dependencies: ["FieldworkGeometry", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "FieldworkArcadeTests", dependencies: ["FieldworkArcade", "FieldworkGeometry"],
            exclude: ["Cases"], swiftSettings: strict),
        .testTarget(
            name: "FieldworkRESTTests", dependencies: ["FieldworkREST", "FieldworkGeometry", "TestSupport"],
            swiftSettings: strict),
        .testTarget(name: "FieldworkOSMTests", dependencies: ["FieldworkOSM", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "FieldworkTilesTests",
            dependencies: ["FieldworkTiles", "FieldworkOSM", "FieldworkREST", "FieldworkGeometry", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "FieldworkDrawingTests",
            dependencies: ["FieldworkDrawing", "FieldworkJPEG", "FieldworkREST", "FieldworkGeometry", "TestSupport"],
            swiftSettings: strict),
        // A database server of the tests' own, for those that run on every store.
        .target(
            name: "TemporaryPostgres", dependencies: ["FieldworkPostGIS", "TestSupport"],
            path: "Tests/TemporaryPostgres",
            swiftSettings: strict),
        .testTarget(
            name: "FieldworkStoreTests",
            dependencies: [
                "FieldworkStore", "FieldworkPostGIS", "FieldworkREST", "FieldworkGeometry", "TemporaryPostgres",
                "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "FieldworkLocatorTests",
            dependencies: [
                "FieldworkLocator", "FieldworkOSM", "FieldworkStore", "FieldworkREST", "FieldworkGeometry",
                "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "FieldworkPostGISTests",
            dependencies: [
                "FieldworkPostGIS", "FieldworkStore", "FieldworkREST", "FieldworkGeometry", "TemporaryPostgres",
                "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "FieldworkPortalTests",
            dependencies: [
                "FieldworkPortal", "FieldworkPostGIS", "FieldworkStore", "FieldworkREST", "FieldworkGeometry",
                "TemporaryPostgres", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "FieldworkServerTests",
            dependencies: [
                "FieldworkServer", "FieldworkDrawing", "FieldworkJPEG", "FieldworkLocator", "FieldworkPortal",
                "FieldworkPublishing", "FieldworkTiles", "FieldworkPostGIS", "FieldworkStore", "FieldworkREST",
                "FieldworkGeometry",
                "TemporaryPostgres", "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "FieldworkTests",
            dependencies: [
                "Fieldwork", "FieldworkLocator", "FieldworkPortal", "FieldworkServer", "FieldworkStore",
                "FieldworkTiles",
                "FieldworkREST", "FieldworkGeometry", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SeedCompatibilityTests",
            dependencies: [
                "Fieldwork", "FieldworkServer", "FieldworkStore", "FieldworkREST", "FieldworkCommand", "TestSupport",
            ],
            swiftSettings: strict + arcGISAlias),
        .testTarget(
            name: "FieldworkCollectTests",
            dependencies: [
                "FieldworkCollect", "FieldworkTiles", "FieldworkServer", "FieldworkPortal", "FieldworkStore",
                "FieldworkREST", "FieldworkGeometry", "FieldworkLocator",
                "Fieldwork", "CTurboJPEG", "BrowserSupport", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "FieldworkCommandTests",
            dependencies: [
                "FieldworkCommand", "FieldworkCollect", "FieldworkLocator", "Fieldwork", "FieldworkServer",
                "FieldworkPublishing", "FieldworkPostGIS", "FieldworkStore",
                "FieldworkREST", "FieldworkGeometry", "TemporaryPostgres", "TestSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "SimulationTests",
            dependencies: [
                "Fieldwork", "FieldworkCollect", "FieldworkServer", "FieldworkStore", "FieldworkTiles", "FieldworkREST",
                "FieldworkGeometry", "FieldworkPostGIS", "TemporaryPostgres", "TestSupport",
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        // An app author's settings: the example of README.md as it stands there.
        .testTarget(name: "ReadmeTests", dependencies: ["Fieldwork"]),
        .testTarget(name: "ArchitectureTests", swiftSettings: strict),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "FieldworkCommand", "Fieldwork", "FieldworkGeometry", "FieldworkPostGIS", "TemporaryPostgres",
                "TestSupport", "BrowserSupport",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            exclude: ["Support/vendor_geocoding.py", "Support/qgis_secured.py", "Support/vendor_portal.py"],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

// Compiling all tests takes minutes: FIELDWORK_TESTS=FieldworkTilesTests,FieldworkServerTests leaves the others out.
if let wanted = Context.environment["FIELDWORK_TESTS"]?.split(separator: ",") {
    package.targets.removeAll { target in target.isTest && !wanted.contains { $0 == target.name } }
}
