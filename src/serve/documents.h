#pragma once
// The JSON documents of the protocol that describe rather than infer.

#include <string>
#include <string_view>
#include <vector>

#include "serve/catalog.h"
#include "serve/model_host.h"

namespace tauto::serve {

/// Appends {"error":"..."}, the body of every refusal.
void write_error(std::string& out, std::string_view message);
/// GET /v2. `id` is --id.
std::string server_metadata_json(const std::string& id);
/// GET /v2/models/M[/versions/V]. `one_version`: list just the host's own.
std::string model_metadata_json(const Catalog& catalog, const ModelHost& host, bool one_version);
/// GET /v2/models/M/stats and /v2/models/stats: `{"model_stats":[...]}` over the given hosts.
std::string statistics_json(const std::vector<const ModelHost*>& hosts);
/// POST /v2/repository/index: every model that was tried, or only the ready ones.
std::string repository_index_json(const Catalog& catalog, bool only_ready);
/// GET /v2/models/M/journeys: exact histograms of the stages and the slowest requests.
std::string journeys_json(const ModelHost& host);

}  // namespace tauto::serve
