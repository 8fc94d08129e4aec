/// The number of a spatial reference: in the EPSG register below 32,768, else one of the vendor's own.
public struct WKID: RawRepresentable, Hashable, Sendable {
    /// The number itself.
    public let rawValue: Int

    /// nil unless the number is positive.
    public init?(rawValue: Int) {
        guard rawValue > 0, rawValue <= Int(Int32.max) else { return nil }
        self.rawValue = rawValue
    }

    /// nil unless the number is positive.
    public init?(_ rawValue: Int) { self.init(rawValue: rawValue) }
}

/// What coordinates mean: a geographic or projected reference system, perhaps with a vertical one.
///
/// Two references are equal when they name the same system: 102100, the vendor's first number for Web Mercator, equals
/// 3857.
public final class SpatialReference: Sendable, Hashable {
    /// The number it was made with; nil when it was made from text.
    public let wkid: WKID?
    /// The number of its vertical reference.
    public let verticalWKID: WKID?
    /// The text it was made from; empty when it was made with a number.
    public let wkText: String

    /// By number. nil when no register of the machine's PROJ knows it.
    public init?(wkid: WKID, verticalWKID: WKID? = nil) {
        guard ReferenceRegister.shared.contains(wkid.rawValue) else { return nil }
        self.wkid = wkid
        self.verticalWKID = verticalWKID
        wkText = ""
    }

    /// By well-known text (version 1, the vendor's dialect, or 2). nil when it can't be read.
    public init?(wkText: String) {
        guard ReferenceRegister.shared.canRead(wkText) else { return nil }
        wkid = nil
        verticalWKID = nil
        self.wkText = wkText
    }

    private init(builtIn number: Int) {
        wkid = WKID(number)
        verticalWKID = nil
        wkText = ""
    }

    /// Degrees on WGS 84 (wkid 4326).
    public static let wgs84 = SpatialReference(builtIn: 4_326)
    /// Metres of the web's Mercator projection (wkid 3857).
    public static let webMercator = SpatialReference(builtIn: 3_857)

    /// The number by which the register of today knows it: 3857 for 102100.
    package var latestWKID: Int? {
        guard let number = wkid?.rawValue else { return nil }
        return Self.successors[number] ?? number
    }

    /// Numbers that the vendor gave before the EPSG register had its own.
    private static let successors = [
        102_100: 3_857, 102_113: 3_857, 900_913: 3_857, 3_785: 3_857,
    ]

    /// Whether coordinates are degrees of longitude and latitude.
    public var isGeographic: Bool { ReferenceRegister.shared.traits(of: self).isGeographic }
    /// Whether coordinates are lengths on a plane.
    public var isProjected: Bool { !isGeographic }
    /// Whether it has a vertical reference.
    public var hasVertical: Bool { verticalWKID != nil }
    /// Metres in a unit of a projected reference; radians in a unit of a geographic one.
    package var unitFactor: Double { ReferenceRegister.shared.traits(of: self).unitFactor }
    /// Whether the register of references writes positions with the latitude or the northing first. Everything here has x first;
    /// some protocols follow the register.
    package var isNorthFirst: Bool { ReferenceRegister.shared.traits(of: self).isNorthFirst }

    /// Whether both name the same system.
    public static func == (one: SpatialReference, other: SpatialReference) -> Bool {
        one === other
            || (one.latestWKID == other.latestWKID && one.verticalWKID == other.verticalWKID
                && one.wkText == other.wkText)
    }

    /// Equal values give equal hashes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(latestWKID)
        hasher.combine(wkText)
    }
}
