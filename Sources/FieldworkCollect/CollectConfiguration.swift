package import Foundation

/// Where the app listens, which map it opens and where it keeps what belongs to this device.
package struct CollectConfiguration: Sendable {
    /// Where the map looks at the first start.
    package struct InitialView: Sendable, Hashable {
        /// Degrees, WGS 84.
        package var longitude: Double
        package var latitude: Double
        /// Level of the map library: 512-pixel tiles.
        package var zoom: Double

        package init(longitude: Double, latitude: Double, zoom: Double) {
            self.longitude = longitude
            self.latitude = latitude
            self.zoom = zoom
        }
    }

    /// A web map of this device that the first page offers in place of the service that it shows.
    package struct OfferedMap: Sendable, Hashable {
        /// The document's file.
        package var file: URL
        /// The name of the service of `servicesRoot` that the first page offers no more.
        package var serviceName: String
        package var title: String
        /// A sentence of what the map is for.
        package var about: String

        package init(file: URL, serviceName: String, title: String, about: String) {
            self.file = file
            self.serviceName = serviceName
            self.title = title
            self.about = about
        }
    }

    /// The address to listen on: of this machine only.
    package var host: String
    /// The port to listen on; 0 for any free one, which `run(onReady:)` reports.
    package var port: Int
    /// The address of the services directory whose feature services the first page offers, `…/rest/services`.
    package var servicesRoot: URL?
    /// Whether `servicesRoot` is served by the process that runs the app, on whatever port it got.
    package var ownsServices: Bool
    /// Feature services offered besides those of `servicesRoot`.
    package var serviceURLs: [URL]
    /// Web maps of this device that the first page offers.
    package var offeredMaps: [OfferedMap]
    /// The web map that opens at the start, a file of this device or an address; nil for the map of last time.
    package var webMap: URL?
    /// The GeoPackage of this device that opens at the start; nil for none.
    package var file: URL?
    /// Where GeoPackages are looked for that could be opened; nil for the folders where people keep files.
    package var fileFolders: [URL]?
    /// The name of the service that opens at the first start, or the web map in its place.
    package var defaultServiceName: String
    /// Keeps unsent edits, the journal of edits and the settings of this device.
    package var dataDirectory: URL
    /// Holds `maplibre-gl.js` and `maplibre-gl.css`; without it the page says so and the list works alone.
    package var mapLibraryDirectory: URL?
    /// nil: the whole extent of the map.
    package var initialView: InitialView?
    /// How long the map's page waits for the features in view. A page with a script gets them when its map rests.
    var framePatience = Duration.milliseconds(Limits.framePatienceMilliseconds)

    package init(
        host: String = "127.0.0.1", port: Int = 8081, servicesRoot: URL? = nil, ownsServices: Bool = false,
        serviceURLs: [URL] = [], offeredMaps: [OfferedMap] = [], webMap: URL? = nil, file: URL? = nil,
        fileFolders: [URL]? = nil,
        defaultServiceName: String = "DamageAssessment", dataDirectory: URL, mapLibraryDirectory: URL? = nil,
        initialView: InitialView? = nil
    ) {
        self.host = host
        self.port = port
        self.servicesRoot = servicesRoot
        self.ownsServices = ownsServices
        self.serviceURLs = serviceURLs
        self.offeredMaps = offeredMaps
        self.webMap = webMap
        self.file = file
        self.fileFolders = fileFolders
        self.defaultServiceName = defaultServiceName
        self.dataDirectory = dataDirectory
        self.mapLibraryDirectory = mapLibraryDirectory
        self.initialView = initialView
    }

    /// The root of the services that were started with the app.
    var ownRoot: URL? { ownsServices ? servicesRoot : nil }
}
