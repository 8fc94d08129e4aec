import FieldworkGeometry
import FieldworkREST
import Foundation

/// Parts of basemaps that clients take along: jobs, as the protocol has them for tiles, and their results.
struct TileExports: Sendable {
    let basemap: Basemap
    let replicas: ReplicaService
    let instance: String

    /// The folder of the packages in addresses.
    static let fileFolder = "exportfiles"
    /// The name of a job's only result.
    static let resultName = "out_service_url"

    private var name: ServiceName { ServiceName(name: basemap.name) }

    /// Begins a job. A client that names its request by `requestId` and repeats it gets the job that it began.
    func submit(_ operation: ServiceJob.Operation, _ context: RouteContext) async throws -> JSONValue {
        let parameters = context.request.parameters
        _ = try TileExporter.export(basemap, parameters)
        let id = try CreateReplicaRequest.requestID(parameters) ?? replicas.makeID()
        var job = ServiceJob(
            id: id, service: name, operation: operation, parameters: parameters.fields, moment: replicas.now())
        job.editor = context.request.editor
        job.client = WorkAllowance.current?.client ?? ""
        if let known = try await replicas.jobs.job(id) {
            guard known.service == name, known.operation == operation, known.editor == job.editor else {
                throw ServiceError.invalidParameter("'requestId' names another request.")
            }
        } else {
            // The job goes on after this request.
            try await WorkAllowance.$current.withValue(nil) { [job] in try await replicas.jobs.submit(job) }
        }
        return ["jobId": .string(ReplicaID.text(id)), "jobStatus": "esriJobSubmitted"]
    }

    private func job(_ context: RouteContext) async throws -> ServiceJob {
        let id = try context.id
        guard let job = try await replicas.jobs.job(id), job.service == name, job.operation.isOfTiles else {
            throw ServiceError.notFound("\(basemap.name) has no job \(ReplicaID.text(id)).")
        }
        return job
    }

    /// How far a job is.
    func status(_ context: RouteContext) async throws -> JSONValue {
        let job = try await job(context)
        var object = JSONObject()
        object.append("jobId", .string(ReplicaID.text(job.id)))
        let word =
            switch job.status {
            case .pending: "esriJobWaiting"
            case .inProgress: "esriJobExecuting"
            case .completed: "esriJobSucceeded"
            case .failed: "esriJobFailed"
            }
        object.append("jobStatus", .string(word))
        if job.status == .completed {
            object.append("results", [Self.resultName: ["paramUrl": .string("results/\(Self.resultName)")]])
        }
        object.append("inputs", [:])
        let reasons = job.error.map { [$0.message] + $0.details } ?? []
        object.append(
            "messages",
            .array(reasons.map { ["type": "esriJobMessageTypeError", "description": .string($0)] }))
        return .object(object)
    }

    private func finished(_ context: RouteContext) async throws -> ServiceJob {
        let job = try await job(context)
        guard job.status == .completed else { throw ServiceError.notFound("The job has no result (yet).") }
        return job
    }

    /// The result of a job: the address of a list of files, or how large the package would be.
    func result(_ context: RouteContext) async throws -> JSONValue {
        let job = try await finished(context)
        guard try context.name == Self.resultName else { throw ServiceError.notFound("The job has no such result.") }
        let value: JSONValue =
            job.operation == .estimateTiles
            ? .object(job.members) : .string(address("jobs/\(ReplicaID.text(job.id))/files", context))
        return ["paramName": .string(Self.resultName), "dataType": "GPString", "value": value]
    }

    /// The package of a job as a list of one file.
    func files(_ context: RouteContext) async throws -> JSONValue {
        let job = try await finished(context)
        guard let file = job.result else { throw ServiceError.notFound("The job has made no file.") }
        let ending = file.split(separator: ".").last.map(String.init) ?? ""
        return [
            "files": [
                [
                    "name": .string("\(basemap.name).\(ending)"),
                    "url": .string(address("\(Self.fileFolder)/\(file)", context)),
                ]
            ]
        ]
    }

    private func address(_ path: String, _ context: RouteContext) -> String {
        context.request.address(of: path, name, instance: instance, face: basemap.face)
    }
}
