import FieldworkGeometry
import FieldworkREST
import Foundation

/// Work that goes on after its request was answered. It is on the disk before it starts: after a restart it is done again
/// from its parameters, under the same id, so that nothing is made or taken in twice.
struct ServiceJob: Sendable {
    enum Operation: String, Sendable {
        case createReplica, synchronizeReplica, extractChanges
        case exportTiles, estimateTiles
        case publishItem, exportItem

        /// Whether it is of a basemap, and not of a service's features.
        var isOfTiles: Bool { self == .exportTiles || self == .estimateTiles }
        /// Whether it makes a service of an item of the portal, or an item of a service.
        var isOfItems: Bool { self == .publishItem || self == .exportItem }
    }

    enum Status: String, Sendable {
        case pending = "Pending"
        case inProgress = "InProgress"
        case completed = "Completed"
        case failed = "Failed"

        var isFinal: Bool { self == .completed || self == .failed }
    }

    var id: UUID
    var service: ServiceName
    var operation: Operation
    var parameters: [(name: String, value: String)]
    var submitted: Date
    var updated: Date
    /// Who asked for it.
    var editor: String?
    /// The address of who asked for it: clients share by it what there is.
    var client = ""
    /// The address of the service as the client saw it.
    var address = ""
    var status: Status = .pending
    /// The name of the result's file.
    var result: String?
    /// What the status says besides.
    var members = JSONObject()
    var error: ServiceError?

    // MARK: On the disk

    var storageJSON: JSONValue {
        var values = JSONObject()
        for (name, value) in parameters { values[name] = .string(value) }
        var object = JSONObject()
        object.append("id", .string(id.uuidString))
        object.append("folder", JSONValue(service.folder))
        object.append("name", .string(service.name))
        object.append("editor", JSONValue(editor))
        object.append("address", .string(address))
        object.append("client", .string(client))
        object.append("operation", .string(operation.rawValue))
        object.append("parameters", .object(values))
        object.append("submitted", ReplicaAnswer.milliseconds(submitted))
        object.append("updated", ReplicaAnswer.milliseconds(updated))
        object.append("status", .string(status.rawValue))
        object.append("result", JSONValue(result))
        object.append("members", .object(members))
        if let error { object.append("error", error.json) }
        return .object(object)
    }

    init?(storageJSON json: JSONValue) {
        guard let id = json["id"]?.stringValue.flatMap(UUID.init(uuidString:)), let name = json["name"]?.stringValue,
            let operation = json["operation"]?.stringValue.flatMap(Operation.init(rawValue:)),
            let status = json["status"]?.stringValue.flatMap(Status.init(rawValue:)),
            let submitted = json["submitted"]?.doubleValue, let updated = json["updated"]?.doubleValue
        else { return nil }
        self.id = id
        service = ServiceName(folder: json["folder"]?.stringValue, name: name)
        editor = json["editor"]?.stringValue
        address = json["address"]?.stringValue ?? ""
        client = json["client"]?.stringValue ?? ""
        self.operation = operation
        self.status = status
        self.submitted = Date(timeIntervalSince1970: submitted / 1_000)
        self.updated = Date(timeIntervalSince1970: updated / 1_000)
        parameters = (json["parameters"]?.objectValue?.members ?? []).map { ($0.key, $0.value.stringValue ?? "") }
        result = json["result"]?.stringValue
        members = json["members"]?.objectValue ?? JSONObject()
        error = json["error"].flatMap(ServiceError.init(answer:))
    }

    init(
        id: UUID, service: ServiceName, operation: Operation, parameters: [(name: String, value: String)], moment: Date
    ) {
        self.id = id
        self.service = service
        self.operation = operation
        self.parameters = parameters
        submitted = moment
        updated = moment
    }

    // MARK: For clients

    /// - Parameter address: gives the address of a result's file.
    func json(address: (String) -> String) -> JSONValue {
        var object = members
        object["transportType"] = "esriTransportTypeUrl"
        object["resultUrl"] = .string(result.map(address) ?? "")
        object["submissionTime"] = ReplicaAnswer.milliseconds(submitted)
        object["lastUpdatedTime"] = ReplicaAnswer.milliseconds(updated)
        object["status"] = .string(status.rawValue)
        // Only then: there are clients for which any member of the name, also null, is an error.
        if let error {
            object["error"] = [
                "code": JSONValue(error.code), "message": .string(error.message),
                "description": .string(([error.message] + error.details).joined(separator: " ")),
            ]
        }
        return .object(object)
    }
}
