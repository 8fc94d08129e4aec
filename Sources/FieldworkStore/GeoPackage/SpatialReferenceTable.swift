import FieldworkGeometry

/// `gpkg_spatial_ref_sys`: the references that a file's geometries use.
enum SpatialReferenceTable {
    static let undefinedCartesian: Int32 = -1
    /// Ids for references that have no number of their own start here.
    private static let firstOwnID: Int64 = 900_000

    /// The rows that the standard demands.
    static func addRequired(to connection: StoreConnection) throws {
        let rows: [(name: String, id: Int64, organization: String, definition: String)] = [
            ("Undefined Cartesian SRS", -1, "NONE", "undefined"),
            ("Undefined geographic SRS", 0, "NONE", "undefined"),
            ("WGS 84", 4_326, "EPSG", wgs84),
        ]
        for row in rows {
            try insert(
                name: row.name, id: row.id, organization: row.organization, code: row.id, definition: row.definition,
                on: connection)
        }
    }

    /// The id of a reference in this file; adds it when it is not there.
    static func id(of reference: SpatialReference?, on connection: StoreConnection) throws -> Int32 {
        guard let reference else { return undefinedCartesian }
        if let wkid = reference.wkid?.rawValue {
            let code = canonical(wkid)
            // Esri's own numbers lie outside EPSG's range.
            let organization = code <= 32_767 ? "EPSG" : "ESRI"
            let definition = code == 3_857 ? webMercator : code == 4_326 ? wgs84 : reference.wkText
            try insert(
                name: code == 3_857 ? "WGS 84 / Pseudo-Mercator" : "\(organization):\(code)", id: Int64(code),
                organization: organization, code: Int64(code), definition: definition, on: connection)
            return Int32(clamping: code)
        }
        let known = try connection.integer("SELECT srs_id FROM gpkg_spatial_ref_sys WHERE definition = ?") {
            try $0.bind(reference.wkText, at: 1)
        }
        if let known { return Int32(clamping: known) }
        let last = try connection.integer("SELECT max(srs_id) FROM gpkg_spatial_ref_sys") ?? 0
        let id = max(firstOwnID, last + 1)
        try insert(
            name: "Custom \(id)", id: id, organization: "NONE", code: id, definition: reference.wkText, on: connection)
        return Int32(clamping: id)
    }

    /// The numbers that Web Mercator has had over the years are one reference.
    private static func canonical(_ wkid: Int) -> Int {
        [102_100, 102_113, 900_913, 3_857].contains(wkid) ? 3_857 : wkid
    }

    /// The reference of an id: what an existing GeoPackage says of its layers.
    static func reference(id: Int32, on connection: StoreConnection) throws -> SpatialReference? {
        var result: SpatialReference?
        try connection.run(
            "SELECT upper(organization), organization_coordsys_id, definition FROM gpkg_spatial_ref_sys WHERE srs_id = ?",
            bind: { try $0.bind(Int64(id), at: 1) },
            row: { row in
                let organization = row.text(0)
                if organization == "EPSG" || organization == "ESRI", let wkid = WKID(Int(row.integer(1))) {
                    result = SpatialReference(wkid: wkid)
                }
                if result == nil { result = SpatialReference(wkText: row.text(2)) }
            })
        return result
    }

    private static func insert(
        name: String, id: Int64, organization: String, code: Int64, definition: String, on connection: StoreConnection
    ) throws {
        try connection.run(
            """
            INSERT INTO gpkg_spatial_ref_sys
                (srs_name, srs_id, organization, organization_coordsys_id, definition)
            VALUES (?, ?, ?, ?, ?) ON CONFLICT (srs_id) DO NOTHING
            """
        ) {
            try $0.bind(name, at: 1)
            try $0.bind(id, at: 2)
            try $0.bind(organization, at: 3)
            try $0.bind(code, at: 4)
            try $0.bind(definition.isEmpty ? "undefined" : definition, at: 5)
        }
    }

    private static let wgs84 = """
        GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563,AUTHORITY["EPSG","7030"]],\
        AUTHORITY["EPSG","6326"]],PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],\
        UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],AXIS["Latitude",NORTH],AXIS["Longitude",EAST],\
        AUTHORITY["EPSG","4326"]]
        """

    private static let webMercator = """
        PROJCS["WGS 84 / Pseudo-Mercator",GEOGCS["WGS 84",DATUM["WGS_1984",\
        SPHEROID["WGS 84",6378137,298.257223563,AUTHORITY["EPSG","7030"]],AUTHORITY["EPSG","6326"]],\
        PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],\
        AUTHORITY["EPSG","4326"]],PROJECTION["Mercator_1SP"],PARAMETER["central_meridian",0],\
        PARAMETER["scale_factor",1],PARAMETER["false_easting",0],PARAMETER["false_northing",0],\
        UNIT["metre",1,AUTHORITY["EPSG","9001"]],AXIS["Easting",EAST],AXIS["Northing",NORTH],\
        EXTENSION["PROJ4","+proj=merc +a=6378137 +b=6378137 +lat_ts=0 +lon_0=0 +x_0=0 +y_0=0 +k=1 +units=m \
        +nadgrids=@null +wktext +no_defs"],AUTHORITY["EPSG","3857"]]
        """
}
