import Foundation

/// What went wrong with a file, in words that name it: the system's library says neither which file it was nor why.
enum FileErrorWords {
    static func text(_ error: CocoaError) -> String {
        let info = error.userInfo
        let path = info[NSFilePathErrorKey] as? String ?? (info[NSURLErrorKey] as? URL)?.path
        guard let path else { return reason(error) }
        return "\(path): \(reason(error))"
    }

    private static func reason(_ error: CocoaError) -> String {
        let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError
        if let cause, cause.domain == NSPOSIXErrorDomain { return String(cString: strerror(Int32(cause.code))) + "." }
        return switch error.code {
        case .fileNoSuchFile, .fileReadNoSuchFile: "It is not there."
        case .fileWriteFileExists: "It is there already."
        case .fileReadNoPermission, .fileWriteNoPermission: "Permission denied."
        case .fileWriteOutOfSpace: "No space left on the device."
        default: "It can't be read or written (\(error.code.rawValue))."
        }
    }
}
