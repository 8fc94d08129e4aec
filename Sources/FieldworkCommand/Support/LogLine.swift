import FieldworkGeometry
import FieldworkREST
import FieldworkServer
import Foundation
import Logging

/// A line of a log: for people, or as JSON for programs.
struct LogLine {
    private var members: [(name: String, value: JSONValue)]
    private let head: String

    /// An event of the server.
    init(level: Logger.Level, message: String, metadata: Logger.Metadata, moment: Date = Date()) {
        let time = Self.time(moment)
        head = "\(time) \(level.rawValue) \(Self.plain(message))"
        members = metadata.sorted { $0.key < $1.key }.map { ($0.key, .string("\($0.value)")) }
        fixed = [("time", .string(time)), ("level", .string(level.rawValue)), ("message", .string(message))]
    }

    /// A request that was answered.
    init(_ record: AccessRecord, moment: Date = Date()) {
        let time = Self.time(moment)
        head = "\(time) \(Self.plain(record.client)) \(record.method) \(Self.plain(record.path)) \(record.code)"
        fixed = [
            ("time", .string(time)), ("client", .string(record.client)), ("method", .string(record.method)),
            ("path", .string(record.path)), ("code", JSONValue(record.code)),
        ]
        members = [
            ("operation", .string(record.operation)), ("service", record.service.map { .string($0) } ?? .null),
            ("person", record.person.map { .string($0) } ?? .null),
            ("bytes", record.bytes.map { JSONValue($0) } ?? .null),
            ("ms", .number((record.milliseconds * 10).rounded() / 10)), ("request", .string(record.request)),
        ].filter { $0.1 != .null }
    }

    private let fixed: [(name: String, value: JSONValue)]

    func text(_ form: LogOptions.Form) -> String {
        switch form {
        case .json:
            var object = JSONObject()
            for (name, value) in fixed + members where object[name] == nil { object.append(name, value) }
            return JSONValue.object(object).text
        case .text:
            return head
                + members.map { " \($0.name)=\(Self.quoted($0.value.stringValue ?? $0.value.text))" }.joined()
        }
    }

    private static func time(_ moment: Date) -> String {
        MomentText.text(milliseconds: Int64((moment.timeIntervalSince1970 * 1_000).rounded()), isExact: true)
    }

    /// A value that a client chose must not begin a line of its own or steer a terminal.
    private static func plain(_ text: String) -> String {
        text.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
            ? JSONValue.string(text).text : text
    }

    private static func quoted(_ text: String) -> String {
        let needsQuotes = text.isEmpty || text.contains { $0 == " " || $0 == "\"" || $0 == "=" }
        return needsQuotes ? JSONValue.string(text).text : plain(text)
    }
}

/// Writes the events of a logger as lines.
struct LogLines: LogHandler {
    let sink: LogSink
    let form: LogOptions.Form
    var metadataProvider: Logger.MetadataProvider?
    var logLevel = Logger.Level.warning
    var metadata = Logger.Metadata()

    init(sink: LogSink, form: LogOptions.Form, provider: Logger.MetadataProvider) {
        (self.sink, self.form) = (sink, form)
        metadataProvider = provider
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let known = metadata.merging(metadataProvider?.get() ?? [:]) { $1 }.merging(event.metadata ?? [:]) { $1 }
        sink.write(LogLine(level: event.level, message: event.message.description, metadata: known).text(form))
    }
}
