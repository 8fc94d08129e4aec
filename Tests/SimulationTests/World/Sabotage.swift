import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import Foundation

/// Ways to break the system on purpose, between its parts: whoever trusts the simulator has to have seen it notice each.
enum Sabotage: String, CaseIterable {
    /// The service acknowledges before it commits: what it said last is not there after its process died.
    case losesCommits
    /// Deletes of others never reach the devices.
    case hidesDeletes
    /// An upload that is repeated brings its features under new ids.
    case renamesAdds
    /// A device says that it has what it has not.
    case claimsGenerations
    /// What loses in a conflict is thrown away.
    case forgetsConflicts
    /// The service gives more than the area.
    case ignoresArea
    /// The service says that it has taken what it has refused.
    case dropsUpdates
    /// The service says that it has taken files that it has not.
    case dropsFiles
    /// A file that is handed in comes a second time, as another one.
    case doublesFiles
    /// A device says that it knows of every backup that was put back: what it gave since is not asked for again.
    case forgetsRestorations

    var losesCommits: Bool { self == .losesCommits }

    /// What it breaks first of all.
    var invariant: Invariant {
        switch self {
        case .losesCommits: .generationsGrow
        case .hidesDeletes, .claimsGenerations: .replicasAreEqual
        case .renamesAdds, .doublesFiles: .onlyOnce
        case .forgetsConflicts, .dropsUpdates, .dropsFiles, .forgetsRestorations: .savedIsKept
        case .ignoresArea: .insideArea
        }
    }

    // MARK: On the way

    func change(_ order: SimulatedServer.Order, generation: Int64) -> SimulatedServer.Order {
        var order = order
        var fields = Self.fields(order.form)
        let operation = order.address.split(separator: "/").last
        switch (self, operation) {
        case (.ignoresArea, "createReplica"): fields["geometry"] = nil
        case (.forgetsRestorations, "synchronizeReplica"): fields["knownRestoration"] = "9000000000000000"
        case (.claimsGenerations, "synchronizeReplica"):
            if fields["replicaServerGen"] != nil { fields["replicaServerGen"] = String(generation) }
            if let text = fields["syncLayers"], let layers = try? JSONParser.parse(text).arrayValue {
                fields["syncLayers"] =
                    JSONValue.array(
                        layers.map { layer in
                            var layer = layer.objectValue ?? JSONObject()
                            layer["serverGen"] = .integer(generation)
                            return .object(layer)
                        }
                    ).text
            }
        case (.renamesAdds, "synchronizeReplica"), (.dropsUpdates, "synchronizeReplica"),
            (.dropsFiles, "synchronizeReplica"), (.doublesFiles, "synchronizeReplica"):
            guard let text = fields["edits"], let edits = try? JSONParser.parse(text).arrayValue else { break }
            fields["edits"] = JSONValue.array(edits.map(changed)).text
        default: return order
        }
        order.form = Self.form(fields)
        return order
    }

    private func changed(_ layer: JSONValue) -> JSONValue {
        guard var object = layer.objectValue, var features = layer["features"]?.objectValue else { return layer }
        if self == .dropsUpdates { features["updates"] = .array([]) }
        if self == .renamesAdds {
            features["adds"] = .array(
                (features["adds"]?.arrayValue ?? []).map { feature in
                    guard var add = feature.objectValue, var values = feature["attributes"]?.objectValue else {
                        return feature
                    }
                    values["GlobalID"] = .string(GUID.normalForm(UUID()))
                    add["attributes"] = .object(values)
                    return .object(add)
                })
        }
        object["features"] = .object(features)
        if self == .dropsFiles { object["attachments"] = nil }
        if self == .doublesFiles, var files = layer["attachments"]?.objectValue {
            let adds = files["adds"]?.arrayValue ?? []
            let others = adds.compactMap { add -> JSONValue? in
                guard var other = add.objectValue else { return nil }
                other["globalId"] = .string(GUID.normalForm(UUID()))
                return .object(other)
            }
            files["adds"] = .array(adds + others)
            object["attachments"] = .object(files)
        }
        return .object(object)
    }

    func change(_ reply: SimulatedServer.Reply, of order: SimulatedServer.Order) -> SimulatedServer.Reply {
        guard self == .hidesDeletes, order.address.hasSuffix("synchronizeReplica"),
            var answer = try? JSONParser.parse(reply.bytes).objectValue, let edits = answer["edits"]?.arrayValue
        else { return reply }
        answer["edits"] = .array(
            edits.map { layer in
                guard var object = layer.objectValue, var features = layer["features"]?.objectValue else {
                    return layer
                }
                features["deleteIds"] = .array([])
                object["features"] = .object(features)
                return .object(object)
            })
        var changed = reply
        changed.bytes = Array(JSONValue.object(answer).text.utf8)
        return changed
    }

    // MARK: At the service

    func change(_ store: any FeatureStore, counter: Int) async throws {
        guard self == .forgetsConflicts, let store = store as? GeoPackageStore else { return }
        try ForeignTool.run(
            "DELETE FROM fieldwork_conflicts",
            on: GeoPackageStore.place(of: OrchardService.name, in: store.folder))
    }

    private static func fields(_ form: String) -> [String: String] {
        let fields = (try? FormURLEncoded.fields(form.utf8)) ?? []
        return Dictionary(fields.map { ($0.name, $0.value) }) { _, last in last }
    }

    private static func form(_ fields: [String: String]) -> String {
        fields.sorted { $0.key < $1.key }.map { name, value in
            "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
        }.joined(separator: "&")
    }
}
