/// Which files may be attached, of which type they are, and which of them a browser may show.
package enum AttachmentTypes {
    /// Endings and their types. The endings are those that the vendor's services take, and what phones and offices make
    /// today. Programs are not among them, neither are pages and drawings that can hold script.
    private static let typesByEnding: [String: String] = [
        "7z": "application/x-7z-compressed", "aif": "audio/aiff", "avi": "video/x-msvideo", "bmp": "image/bmp",
        "csv": "text/csv", "doc": "application/msword", "dot": "application/msword",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "ecw": "image/ecw",
        "emf": "image/emf", "eps": "application/postscript", "geojson": "application/geo+json", "gif": "image/gif",
        "gml": "application/gml+xml", "gpkg": "application/geopackage+sqlite3", "gpx": "application/gpx+xml",
        "gtar": "application/x-gtar", "gz": "application/gzip", "heic": "image/heic", "heif": "image/heif",
        "img": "application/octet-stream", "j2k": "image/jp2", "jp2": "image/jp2", "jpc": "image/jp2",
        "jpe": "image/jpeg", "jpeg": "image/jpeg", "jpf": "image/jpx", "jpg": "image/jpeg",
        "json": "application/json", "kml": "application/vnd.google-earth.kml+xml",
        "kmz": "application/vnd.google-earth.kmz", "m4a": "audio/mp4", "m4v": "video/mp4",
        "mdb": "application/x-msaccess", "mid": "audio/midi", "mov": "video/quicktime", "mp2": "audio/mpeg",
        "mp3": "audio/mpeg", "mp4": "video/mp4", "mpa": "audio/mpeg", "mpe": "video/mpeg", "mpeg": "video/mpeg",
        "mpg": "video/mpeg", "mpv2": "video/mpeg", "odp": "application/vnd.oasis.opendocument.presentation",
        "ods": "application/vnd.oasis.opendocument.spreadsheet", "odt": "application/vnd.oasis.opendocument.text",
        "ogg": "audio/ogg", "pdf": "application/pdf", "png": "image/png", "ppt": "application/vnd.ms-powerpoint",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "ps": "application/postscript", "psd": "image/vnd.adobe.photoshop", "qt": "video/quicktime",
        "ra": "audio/x-pn-realaudio", "ram": "audio/x-pn-realaudio", "raw": "application/octet-stream",
        "rmi": "audio/midi", "sid": "image/x-mrsid", "tar": "application/x-tar", "tgz": "application/gzip",
        "tif": "image/tiff", "tiff": "image/tiff", "txt": "text/plain", "vrml": "model/vrml", "wav": "audio/wav",
        "webm": "video/webm", "webp": "image/webp", "wma": "audio/x-ms-wma", "wmf": "image/wmf",
        "wmv": "video/x-ms-wmv", "wps": "application/vnd.ms-works", "xls": "application/vnd.ms-excel",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlt": "application/vnd.ms-excel",
        "xml": "application/xml", "zip": "application/zip",
    ]

    private static let allowedTypes = Set(typesByEnding.values)

    /// What browsers show without running anything that stands in it.
    private static let shownTypes: Set<String> = [
        "image/jpeg", "image/png", "image/gif", "image/bmp", "image/webp", "image/tiff", "image/heic", "image/heif",
        "image/jp2", "audio/mpeg", "audio/mp4", "audio/wav", "audio/ogg", "audio/aiff", "video/mp4", "video/mpeg",
        "video/webm", "video/quicktime", "text/plain", "text/csv", "application/json", "application/geo+json",
        "application/pdf",
    ]

    /// The type to store for a file: what its bringer says, or else what its ending says.
    /// - Throws: why the file may not be attached.
    package static func contentType(name: String, told: String?) throws(EditError) -> String {
        let ending = ending(of: name)
        let told = told.flatMap(normalForm)
        if let ending {
            guard let known = typesByEnding[ending] else {
                throw EditError(
                    code: 1000, description: "Files with the ending '\(ending.prefix(16))' can't be attached.")
            }
            return told ?? known
        }
        // A name without an ending is told apart by its type alone.
        guard let told, allowedTypes.contains(told) else {
            throw EditError(code: 1000, description: "The attachment's name must have an ending that tells its type.")
        }
        return told
    }

    /// Whether a browser may show the file in the place where it was asked for. Everything else is only saved.
    package static func isShown(_ contentType: String) -> Bool { shownTypes.contains(contentType) }

    /// The type that a stored file is given with: its own when it is one of files that may be attached. Of another, which
    /// somebody has told or another program has written, only the bytes are given.
    package static func servedType(_ contentType: String) -> String {
        allowedTypes.contains(contentType) || shownTypes.contains(contentType)
            ? contentType : "application/octet-stream"
    }

    /// The type of a short name such as `png`; nil for none that is known.
    package static func type(ofEnding ending: String) -> String? { typesByEnding[ending.lowercased()] }

    /// The type in lower case and without parameters; nil for what is no type. Some clients name the ending alone.
    package static func normalForm(_ told: String) -> String? {
        let type = told.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
        if let known = typesByEnding[type] { return known }
        let parts = type.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, type.utf8.count <= Limits.contentTypeLength,
            parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(isTokenByte) })
        else { return nil }
        return type
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x61...0x7A, 0x30...0x39, 0x2B, 0x2D, 0x2E, 0x5F: true
        default: false
        }
    }

    private static func ending(of name: String) -> String? {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return nil }
        let ending = name[name.index(after: dot)...]
        return ending.isEmpty || ending.contains(" ") ? nil : ending.lowercased()
    }

    /// The name of a file without what would make it a path or break a header; nil when nothing is left.
    package static func plainName(_ name: String) -> String? {
        // Some browsers send the whole path of the file.
        let last = name.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last ?? ""
        let plain = String(last.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }.prefix(limit))
            .trimmed()
        return plain.isEmpty || plain.allSatisfy({ $0 == "." }) ? nil : plain
    }

    private static let limit = Limits.attachmentNameLength
}

extension String {
    /// Without spaces at its ends.
    fileprivate func trimmed() -> String {
        var rest = self[...]
        while rest.first == " " { rest.removeFirst() }
        while rest.last == " " { rest.removeLast() }
        return String(rest)
    }
}
