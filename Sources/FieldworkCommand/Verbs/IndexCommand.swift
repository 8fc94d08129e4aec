import ArgumentParser
import Fieldwork
import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// `fieldwork index`.
struct IndexCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "index", abstract: "List the indexes of a layer, propose ones, make and drop them.",
        discussion: """
            An index finds features by the values of its fields without reading all of them. A text index finds texts by any part of \
            them, three characters long or more: conditions such as name LIKE '%oak%', and the searches of the app. Each index takes \
            room and time of every edit.

            Without an option the indexes are listed, and such proposed as the layer's definition gives a reason for. Indexes are made \
            by the definition (addToDefinition), while the service is served. For a layer at an address, sign in first (fieldwork \
            sign-in) as somebody who may change the service; sizes, and indexes that the definition does not name, are shown of \
            folders and databases alone.

            EXAMPLES
              fieldwork index Trees/0
              fieldwork index Trees/0 --add planted,height
              fieldwork index Trees/0 --add number --unique
              fieldwork index Trees/0 --text species
              fieldwork index Trees/0 --drop text_species
              fieldwork index Trees/0 --store postgres://localhost/field
            """)

    @Argument(
        help: ArgumentHelp(
            "The layer: its address, …/FeatureServer/0, or a name in the folder or the database, Service/0.",
            valueName: "layer"))
    var layer: String

    @Option(help: ArgumentHelp("Make an index of these fields, separated by commas.", valueName: "fields"))
    var add: String?
    @Flag(help: "With --add: no two features have the same values.")
    var unique = false
    @Option(help: ArgumentHelp("Make a text index of this field.", valueName: "field"))
    var text: String?
    @Option(help: ArgumentHelp("Drop the index of the definition that has this name.", valueName: "name"))
    var drop: String?
    @Option(help: ArgumentHelp("The name of the new index; made of its fields without this option.", valueName: "name"))
    var name: String?

    @OptionGroup var format: ListFormat
    @OptionGroup var services: PlaceOption
    @OptionGroup var certificates: CertificateOption

    func validate() throws {
        guard [add, text, drop].compactMap(\.self).count <= 1 else {
            throw ValidationError("Give one of --add, --text and --drop.")
        }
        if unique, add == nil { throw ValidationError("--unique goes with --add.") }
        if name != nil, add == nil, text == nil { throw ValidationError("--name goes with --add and --text.") }
    }

    func run() async throws {
        try await runVerb {
            try certificates.use()
            if layer.contains("://") { return try await remote(try ServiceReader(layer)) }
            let store = try await services.place.open()
            do {
                try await local(store)
                try await store.close()
            } catch {
                try? await store.close()
                throw error
            }
        }
    }

    // MARK: A folder or a database

    private func local(_ store: any ServiceStore) async throws {
        let address = try await NamedLayer(text: layer, place: services.place).address(in: store)
        let current = try await store.service(address.service)
        guard let definition = current.layer(id: address.layerID) else { return }
        guard let change = try change(of: definition) else {
            let indexes = try await store.indexes(of: address)
            return try show(definition, indexes, try await store.count(FeatureQuery(), in: address))
        }
        let edit = try DefinitionEdit(
            change.operation, layerID: address.layerID,
            parameters: RequestParameters([(change.operation.rawValue, change.document.text)]))
        let changed = try DefinitionFiles.definition(
            try edit.applied(to: current.document).document, address.service, replacing: current)
        try await store.updateService(changed, allowing: [], replacing: current)
        if let made = change.made, try await !store.indexes(of: address).contains(where: made.isSame) {
            let promised = try await store.service(address.service)
            try await store.updateService(current, allowing: [], replacing: promised)
            throw CommandFailure(
                .badData,
                """
                The database makes no such index, and nothing was changed: a table that is served in place is its owner's, and \
                PostgreSQL indexes the values of texts up to a length. (A text index, --text, takes longer ones.)
                """)
        }
        Terminal.output(change.words)
    }

    // MARK: A server

    private func remote(_ reader: ServiceReader) async throws {
        let definition = try await reader.layer()
        guard let change = try change(of: definition) else {
            let counted = try await reader.get("query", [("where", "1=1"), ("returnCountOnly", "true")])
            let declared = definition.declaredIndexes.map {
                LayerIndex(
                    name: $0.name, fields: $0.fields, isUnique: $0.isUnique,
                    maker: $0.isFullText ? .texts : .definition($0.name), bytes: nil)
            }
            return try show(definition, declared, Int(counted["count"]?.integerValue ?? 0))
        }
        var administration = reader
        let text = reader.url.absoluteString
        guard let place = text.range(of: "/rest/services/"),
            let url = URL(string: text.replacingCharacters(in: place, with: "/rest/admin/services/"))
        else {
            throw CommandFailure(
                .noInput, "\(text) is not the address of a layer: …/rest/services/Name/FeatureServer/0.")
        }
        administration.url = url
        _ = try await administration.get(
            change.operation.rawValue, [(change.operation.rawValue, change.document.text)])
        Terminal.output(change.words)
    }

    // MARK: Changing

    private struct Change {
        var operation: DefinitionEdit.Operation
        var document: JSONValue
        /// nil for an index that is dropped.
        var made: DeclaredIndex?
        var words: String
    }

    /// nil where the indexes are to be listed.
    private func change(of definition: LayerDefinition) throws -> Change? {
        if let drop {
            guard definition.declaredIndexes.contains(where: { $0.name.lowercased() == drop.lowercased() }) else {
                let names = definition.declaredIndexes.map(\.name).joined(separator: ", ")
                throw CommandFailure(
                    .noInput,
                    "\(definition.name)'s definition has no index \(drop)"
                        + (names.isEmpty ? "." : "; it has \(names)."))
            }
            return Change(
                operation: .deleteFromDefinition, document: ["indexes": [["name": .string(drop)]]],
                words: "Dropped the index \(drop) of \(definition.name)")
        }
        guard let fields = try (text ?? add).map({ try names($0, definition) }) else { return nil }
        let joined = fields.joined(separator: "_").lowercased()
        let index = DeclaredIndex(
            name: name ?? (text == nil ? "by_\(joined)" : "text_\(joined)"), fields: fields, isUnique: unique,
            isFullText: text != nil)
        return Change(
            operation: .addToDefinition, document: ["indexes": [index.json]], made: index,
            words: "Made the index \(index.name) of \(definition.name): \(fields.joined(separator: ", "))")
    }

    private func names(_ text: String, _ definition: LayerDefinition) throws -> [String] {
        let names = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        guard !names.isEmpty else { throw CommandFailure(.badData, "Name the fields of the index.") }
        guard self.text == nil || names.count == 1 else {
            throw CommandFailure(.badData, "A text index has one field.")
        }
        guard Set(names.map { $0.lowercased() }).count == names.count else {
            throw CommandFailure(.badData, "A field is named twice.")
        }
        return try names.map { name in
            guard let field = definition.field(named: name) else {
                throw CommandFailure(.badData, "\(definition.name) has no field \(name).")
            }
            guard self.text == nil || field.type == .string else {
                throw CommandFailure(.badData, "\(field.name) holds no texts: a text index would find nothing.")
            }
            guard field.name != definition.objectIDField, field.name != definition.globalIDField else {
                throw CommandFailure(.badData, "\(field.name) has an index always.")
            }
            return field.name
        }
    }

    // MARK: Listing

    private func show(_ definition: LayerDefinition, _ indexes: [LayerIndex], _ count: Int) throws {
        let texts = Set(indexes.filter { $0.maker == .texts }.flatMap(\.fields).map { $0.lowercased() })
        let first = indexes.filter { $0.maker != .texts }.compactMap { $0.fields.first?.lowercased() }
        let proposals = IndexProposals(
            layer: definition, count: count, indexed: Set(first + [definition.objectIDField.lowercased()]), texts: texts
        ).all()
        let rows = indexes.map { index in
            [
                Self.name(of: index, definition), index.fields.joined(separator: ", "),
                index.maker == .texts ? "text" : index.isUnique ? "unique" : "values", Self.words(index.maker),
                index.bytes.map { "\(($0 + 1_023) / 1_024) KiB" } ?? "-",
            ]
        }
        let listed =
            rows.isEmpty
            ? ["\(definition.name) has no index beside those of ids and places."]
            : TextColumns.lines(rows, titles: ["name", "fields", "kind", "made by", "size"])
        let json: JSONValue = [
            "indexes": .array(indexes.map { Self.json($0, definition) }),
            "proposals": .array(
                proposals.map { ["option": .string($0.option), "reason": .string($0.reason)] }),
        ]
        try format.print(json, listed + proposals.map { "Proposed: \($0.option)  (\($0.reason))" })
    }

    /// The name by which the definition knows an index, or the database.
    private static func name(of index: LayerIndex, _ definition: LayerDefinition) -> String {
        switch index.maker {
        case .definition(let name): return name
        case .texts:
            let names = definition.declaredIndexes.filter(\.isFullText).map(\.name)
            return names.isEmpty ? index.name : names.joined(separator: ", ")
        default: return index.name
        }
    }

    private static func words(_ maker: LayerIndex.Maker) -> String {
        switch maker {
        case .definition, .texts: "the definition"
        case .identity: "the layer's ids"
        case .relationship: "a relationship"
        case .geometry: "the layer's places"
        case .anotherProgram: "another program"
        }
    }

    private static func json(_ index: LayerIndex, _ definition: LayerDefinition) -> JSONValue {
        var object = JSONObject()
        object.append("name", .string(name(of: index, definition)))
        object.append("fields", .array(index.fields.map(JSONValue.string)))
        object.append("unique", .bool(index.isUnique))
        object.append("text", .bool(index.maker == .texts))
        object.append("madeBy", .string(words(index.maker)))
        if let bytes = index.bytes { object.append("bytes", .integer(bytes)) }
        return .object(object)
    }
}

extension DeclaredIndex {
    /// Whether an index that is there is this one.
    fileprivate func isSame(_ index: LayerIndex) -> Bool {
        let fields = fields.map { $0.lowercased() }
        return isFullText
            ? index.maker == .texts && Set(fields).isSubset(of: index.fields.map { $0.lowercased() })
            : index.maker != .texts && index.fields.map { $0.lowercased() } == fields && index.isUnique == isUnique
    }
}
