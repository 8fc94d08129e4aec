import FieldworkGeometry
import FieldworkREST
import Synchronization

// Interim, until FieldworkREST brings `storageJSON`: definitions live as long as the process.
let shimRegistry = Mutex<(services: [ServiceDefinition], layers: [LayerDefinition])>(([], []))

extension ServiceDefinition {
    var storageJSON: JSONValue {
        shimRegistry.withLock {
            $0.services.append(self)
            return .integer(Int64($0.services.count - 1))
        }
    }
    init(storageJSON: JSONValue) throws {
        self = shimRegistry.withLock { $0.services[Int(storageJSON.integerValue ?? 0)] }
    }
}

extension LayerDefinition {
    var storageJSON: JSONValue {
        shimRegistry.withLock {
            $0.layers.append(self)
            return .integer(Int64($0.layers.count - 1))
        }
    }
    init(storageJSON: JSONValue) throws {
        self = shimRegistry.withLock { $0.layers[Int(storageJSON.integerValue ?? 0)] }
    }
}
