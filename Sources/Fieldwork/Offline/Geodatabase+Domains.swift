import FieldworkGeometry
import FieldworkREST
import FieldworkStore

/// Domains that are made and deleted on the device. In a replica they are the service's alone.
extension Geodatabase {
    /// The domains of the geodatabase, each once: those that fields of its tables have, in the order of the tables, then
    /// those that were made and that no field has yet.
    public var domains: [Domain] {
        var known: Set<String> = []
        let used = featureTables.flatMap(\.fields).compactMap(\.domain)
        let made = (try? openSession())?.file.definition.madeDomains.map { Domain.make($0.domain, type: $0.type) } ?? []
        return (used + made).filter { known.insert($0.name).inserted }
    }

    /// Adds a domain, which new fields may then name.
    /// - Throws: `GeodatabaseError.itemAlreadyExists`, `.invalidArgument` for what no domain can be,
    ///   `.dataTypeMismatch` for a value of another type, `.cannotUpdateSchemaIfChangeTracking` in a replica;
    ///   `CommonError.illegalState` while a transaction is open.
    public func makeDomain(description: DomainDescription) async throws -> Domain {
        let session = try ownSession()
        guard !description.name.isEmpty else {
            throw GeodatabaseError.invalidArgument(details: "A domain needs a name.")
        }
        if domains.contains(where: { $0.name == description.name }) {
            throw GeodatabaseError.itemAlreadyExists(details: "There is a domain \(description.name) already.")
        }
        let old = session.file.definition
        let field = try TableDefinitionMaker(service: old)
            .field(FieldDescription(name: description.name, fieldType: description.fieldType))
        let kind = try description.kind(in: field)
        if kind == .inherited {
            throw GeodatabaseError.invalidArgument(details: "A domain is a list of values or a range.")
        }
        let made = MadeDomain(domain: DomainDefinition(name: description.name, kind: kind), type: field.type)
        var new = old
        new.madeDomains.append(made)
        try await change(session, from: old, to: new, allowing: [])
        return Domain.make(made.domain, type: made.type)
    }

    /// Deletes a domain that no field has.
    /// - Throws: `GeodatabaseError.itemNotFound`, `.invalidArgument` for one that a field has,
    ///   `.cannotUpdateSchemaIfChangeTracking` in a replica; `CommonError.illegalState` while a transaction is open.
    public func deleteDomain(named name: String) async throws {
        let session = try ownSession()
        let old = session.file.definition
        if old.layers.contains(where: { $0.fields.contains { $0.domain?.name == name } }) {
            throw GeodatabaseError.invalidArgument(details: "A field has the domain \(name).")
        }
        var new = old
        new.madeDomains.removeAll { $0.domain.name == name }
        guard new.madeDomains.count < old.madeDomains.count else {
            throw GeodatabaseError.itemNotFound(details: "There is no domain \(name).")
        }
        try await change(session, from: old, to: new, allowing: [])
    }
}

/// A domain that was made on the device, with the type of its values.
struct MadeDomain {
    var domain: DomainDefinition
    var type: FieldworkREST.FieldType
}

extension ServiceDefinition {
    private static let domainsMember = "fieldworkDomains"

    /// The domains that were made on the device, whether fields have them or not.
    var madeDomains: [MadeDomain] {
        get {
            (unknownMembers[Self.domainsMember]?.arrayValue ?? []).compactMap { json in
                guard let type = json["fieldType"]?.stringValue.flatMap(FieldworkREST.FieldType.init(rawValue:)),
                    let domain = json["domain"].flatMap({ try? DomainDefinition(json: $0) })
                else { return nil }
                return MadeDomain(domain: domain, type: type)
            }
        }
        set {
            let domains = JSONValue.array(
                newValue.map { ["fieldType": .string($0.type.rawValue), "domain": $0.domain.json] })
            // As the file gives it back: 0.0 is 0 there, and the same definition has to be the same.
            unknownMembers[Self.domainsMember] = (try? JSONParser.parse(domains.text)) ?? domains
        }
    }
}
