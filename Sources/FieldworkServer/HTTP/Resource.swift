import FieldworkREST

/// What a path names. Which services exist is not known here: the first segments after `services` are matched later.
enum Resource: Sendable, Hashable {
    case home
    case health
    case metrics
    case stylesheet
    case restRoot
    case info
    /// `rest/services` and what follows it.
    case services([String])
    /// `rest/admin/services` and what follows it.
    case administration([String])
    case unknown

    init(_ target: RequestTarget, instance: String) {
        let segments = target.segments
        switch segments.count {
        case 0: self = .home
        case 1 where segments[0] == "health": self = .health
        case 1 where segments[0] == "metrics": self = .metrics
        case 1 where segments[0] == "fieldwork.css": self = .stylesheet
        default: self = Self.underInstance(segments, instance: instance)
        }
    }

    private static func underInstance(_ segments: [String], instance: String) -> Resource {
        guard segments[0].equalsIgnoringCase(instance) else { return .unknown }
        guard segments.count > 1 else { return .restRoot }
        guard segments[1].equalsIgnoringCase("rest") else { return .unknown }
        guard segments.count > 2 else { return .restRoot }
        if segments[2].equalsIgnoringCase("services") { return .services(Array(segments.dropFirst(3))) }
        if segments.count == 3, segments[2].equalsIgnoringCase("info") { return .info }
        if segments.count > 3, segments[2].equalsIgnoringCase("admin"), segments[3].equalsIgnoringCase("services") {
            return .administration(Array(segments.dropFirst(4)))
        }
        return .unknown
    }
}

extension Resource {
    /// Whether a form's files are for it.
    var takesFile: Bool {
        guard case .services(let segments) = self,
            let face = segments.firstIndex(where: { ServiceFace(segment: $0) == .feature })
        else { return false }
        return ServiceResource(segments[(face + 1)...]).takesFile
    }
}

extension Resource {
    /// The upload that a body of bytes goes on with.
    var growingUpload: String? {
        guard case .services(let segments) = self,
            let face = segments.firstIndex(where: { ServiceFace(segment: $0) == .feature }),
            case .uploads(.append(let id)) = ServiceResource(segments[(face + 1)...])
        else { return nil }
        return id
    }
}

/// What a path names within a feature service.
enum ServiceResource: Sendable, Hashable {
    case root
    case layers
    case relationships
    case query
    case queryDomains
    case queryContingentValues
    case applyEdits
    case replicas(ReplicaResource)
    case uploads(UploadResource)
    case layer(Int)
    case feature(layerID: Int, objectID: Int64)
    case history(layerID: Int, FeatureIdentifier)
    /// The version that ended with a generation, to be restored.
    case restoreVersion(layerID: Int, FeatureIdentifier, generation: Int64)
    case attachments(layerID: Int, objectID: Int64, AttachmentResource)
    case layerOperation(layerID: Int, LayerOperation)
    case layerResource(layerID: Int, LayerResource)
    case unknown

    /// - Parameter segments: what follows `FeatureServer`.
    init(_ segments: ArraySlice<String>) {
        guard let first = segments.first else {
            self = .root
            return
        }
        let rest = segments.dropFirst()
        if let layerID = Int(first), layerID >= 0 {
            self = Self.within(layerID: layerID, rest)
        } else if let resource = ReplicaResource(segments) {
            self = .replicas(resource)
        } else if let resource = UploadResource(segments) {
            self = .uploads(resource)
        } else if !rest.isEmpty {
            self = .unknown
        } else if first.equalsIgnoringCase("layers") {
            self = .layers
        } else if first.equalsIgnoringCase("relationships") {
            self = .relationships
        } else if first.equalsIgnoringCase("query") {
            self = .query
        } else if first.equalsIgnoringCase("queryDomains") {
            self = .queryDomains
        } else if first.equalsIgnoringCase("queryContingentValues") {
            self = .queryContingentValues
        } else if first.equalsIgnoringCase("applyEdits") {
            self = .applyEdits
        } else {
            self = .unknown
        }
    }

    private static func within(layerID: Int, _ segments: ArraySlice<String>) -> ServiceResource {
        guard let first = segments.first else { return .layer(layerID) }
        guard segments.count == 1 else {
            if let objectID = Int64(first), let resource = AttachmentResource(segments.dropFirst()) {
                return .attachments(layerID: layerID, objectID: objectID, resource)
            }
            return history(layerID: layerID, Array(segments))
        }
        if let objectID = Int64(first) { return .feature(layerID: layerID, objectID: objectID) }
        if let resource = LayerResource.allCases.first(where: { $0.rawValue.equalsIgnoringCase(first) }) {
            return .layerResource(layerID: layerID, resource)
        }
        guard let operation = LayerOperation.allCases.first(where: { $0.rawValue.equalsIgnoringCase(first) }) else {
            return .unknown
        }
        return .layerOperation(layerID: layerID, operation)
    }

    /// `{feature}/history` and `{feature}/history/{generation}/restore`.
    private static func history(layerID: Int, _ segments: [String]) -> ServiceResource {
        guard segments[1].equalsIgnoringCase("history") else { return .unknown }
        let feature: FeatureIdentifier
        if let id = Int64(segments[0]) {
            feature = .objectID(id)
        } else if let id = GUID.parse(segments[0]) {
            feature = .globalID(id)
        } else {
            return .unknown
        }
        switch segments.count {
        case 2: return .history(layerID: layerID, feature)
        case 4:
            guard let generation = Int64(segments[2]), segments[3].equalsIgnoringCase("restore") else {
                return .unknown
            }
            return .restoreVersion(layerID: layerID, feature, generation: generation)
        default: return .unknown
        }
    }
}

/// What else a layer or table shows of its definition, spelled as in its addresses.
enum LayerResource: String, Sendable, Hashable, CaseIterable {
    case fieldGroups
    case contingentValues
}

/// The operations of a layer or table, spelled as in its addresses.
enum LayerOperation: String, Sendable, Hashable, CaseIterable {
    case query
    case queryTopFeatures
    case queryRelatedRecords
    case queryAttachments
    case validateSQL
    case calculate
    case addFeatures
    case updateFeatures
    case deleteFeatures
    case applyEdits
}

extension String {
    /// Equality without regard to the case of ASCII letters, and without making lower-case copies.
    func equalsIgnoringCase(_ other: String) -> Bool {
        let (left, right) = (utf8, other.utf8)
        guard left.count == right.count else { return false }
        return zip(left, right).allSatisfy { Self.lowercased($0) == Self.lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte }
}

extension ServiceResource {
    /// Whether a form's files are for it.
    var takesFile: Bool {
        switch self {
        case .uploads(let resource): resource.takesFile
        case .attachments(_, _, let resource): resource.takesFile
        default: false
        }
    }

    /// What the request is counted under.
    var operation: ServerMetrics.Operation {
        switch self {
        case .root, .layers, .relationships, .queryDomains, .queryContingentValues: .service
        case .query: .query
        case .layerOperation(_, .validateSQL): .layer
        case .replicas(.synchronizeReplica): .synchronizeReplica
        case .replicas: .replicas
        case .uploads: .uploads
        case .attachments(_, _, .edit): .editAttachments
        case .attachments: .attachments
        case .layerOperation(_, .queryAttachments): .queryAttachments
        case .layer, .layerResource: .layer
        case .feature, .history: .feature
        case .restoreVersion: .updateFeatures
        case .layerOperation(_, .query), .layerOperation(_, .queryTopFeatures): .query
        case .layerOperation(_, .queryRelatedRecords): .queryRelatedRecords
        case .layerOperation(_, .addFeatures): .addFeatures
        case .layerOperation(_, .updateFeatures), .layerOperation(_, .calculate): .updateFeatures
        case .layerOperation(_, .deleteFeatures): .deleteFeatures
        case .layerOperation(_, .applyEdits), .applyEdits: .applyEdits
        case .unknown: .other
        }
    }
}
