#include "ingest/torch_et/node_reader.h"

#include <fmt/format.h>

#include "ingest/oddities.h"

namespace stepcast::ingest {

std::optional<ParsedNode> NodeReader::Read(JsonValue record) {
  std::optional<ParsedNode> parsed(std::in_place);
  if (has_collective_) {
    collective_ = {};
    has_collective_ = false;
  }
  has_name_ = false;
  id_.reset();
  category_ = {};
  event_stream_.reset();
  const bool whole =
      record.ForEachMember([&](std::string_view key, JsonValue value) {
        ReadMember(key, value, *parsed);
      });
  if (!whole) {
    diagnostics_.Add(kMalformedRecord,
                     id_ ? fmt::format("node {}", *id_) : "a node");
    return std::nullopt;
  }
  if (!Finish(*parsed)) {
    return std::nullopt;
  }
  return parsed;
}

void NodeReader::ReadMember(std::string_view key, JsonValue value,
                            ParsedNode& parsed) {
  ExecutionNode& node = parsed.node;
  if (key == "id") {
    id_ = IntegerOf(value);
  } else if (key == "name") {
    has_name_ = value.is_string();
    node.name = strings_.Intern(TextOf(value));
  } else if (key == "ctrl_deps" || key == "parent") {
    ReadParent(value, parsed);
  } else if (key == "inputs" && value.is_object()) {
    ReadInputs(value, node.arguments);
  } else if (key == "outputs" && value.is_object()) {
    ReadOutputs(value, node.arguments);
  } else if (key == "attrs") {
    ReadAttributes(value, parsed);
  } else if (key == "ts") {
    node.start = TimeOf(value, true);
  } else if (key == "dur") {
    node.duration = TimeOf(value, false);
  } else if (key == "cat") {
    category_ = value.raw_string().value_or(std::string_view());
  } else if (key == "args") {
    ReadEventArgs(value, parsed);
  } else if (key == "op_schema") {
    node.op_schema = strings_.Intern(TextOf(value));
  } else if (!ReadFlatArguments(key, value, node.arguments)) {
    if (int64_t* field = FindIntegerField(key, node)) {
      *field = IntegerOf(value).value_or(*field);
    }
  }
}

bool NodeReader::ReadFlatArguments(std::string_view key, JsonValue value,
                                   RawArguments& arguments) {
  StringId* field = nullptr;
  if (key == "inputs") {
    field = &arguments.values;
  } else if (key == "input_shapes") {
    field = &arguments.dims;
  } else if (key == "input_types") {
    field = &arguments.types;
  } else if (key == "outputs") {
    field = &arguments.out_values;
  } else if (key == "output_shapes") {
    field = &arguments.out_dims;
  } else if (key == "output_types") {
    field = &arguments.out_types;
  } else {
    return false;
  }
  *field = InternList(value);
  return true;
}

void NodeReader::ReadInputs(JsonValue value, RawArguments& arguments) {
  value.ForEachMember([&](std::string_view key, JsonValue list) {
    if (key == "values") {
      arguments.values = InternList(list);
    } else if (key == "shapes") {
      arguments.dims = InternList(list);
    } else if (key == "types") {
      arguments.types = InternList(list);
    } else if (key == "strides") {
      arguments.strides = InternList(list);
    }
  });
}

void NodeReader::ReadOutputs(JsonValue value, RawArguments& arguments) {
  value.ForEachMember([&](std::string_view key, JsonValue list) {
    if (key == "values") {
      arguments.out_values = InternList(list);
    } else if (key == "shapes") {
      arguments.out_dims = InternList(list);
    } else if (key == "types") {
      arguments.out_types = InternList(list);
    }
  });
}

void NodeReader::ReadAttributes(JsonValue list, ParsedNode& parsed) {
  list.ForEachElement([&](JsonValue attribute) {
    std::string_view name;
    std::optional<JsonValue> value;
    attribute.ForEachMember([&](std::string_view key, JsonValue member) {
      if (key == "name") {
        name = member.raw_string().value_or(std::string_view());
      } else if (key == "value") {
        value = member;
      }
    });
    if (value) {
      ReadAttribute(name, *value, parsed);
    }
  });
}

void NodeReader::ReadAttribute(std::string_view name, JsonValue value,
                               ParsedNode& parsed) {
  if (int64_t* field = FindIntegerField(name, parsed.node)) {
    *field = IntegerOf(value).value_or(*field);
  } else if (name == "op_schema") {
    parsed.node.op_schema = strings_.Intern(TextOf(value));
  } else if (std::string* text = FindCollectiveText(name, collective_)) {
    *text = TextOf(value);
    has_collective_ = true;
  } else if (auto* integer = FindCollectiveInteger(name, collective_)) {
    *integer = IntegerOf(value);
    has_collective_ = true;
  }
}

void NodeReader::ReadEventArgs(JsonValue args, ParsedNode& parsed) {
  args.ForEachMember([&](std::string_view key, JsonValue value) {
    if (key == "stream") {
      event_stream_ = IntegerOf(value);
    } else if (key == "correlation") {
      parsed.node.correlation = IntegerOf(value).value_or(-1);
    } else if (key == "bytes" || key == "Bytes") {
      parsed.node.bytes = IntegerOf(value).value_or(-1);
    }
  });
}

// A number or, as nodes of later schemas may have several, a list of them.
void NodeReader::ReadParent(JsonValue value, ParsedNode& parsed) {
  if (!value.is_array()) {
    parsed.parent = value.is_null() ? std::nullopt : IntegerOf(value);
    return;
  }
  value.ForEachElement([&](JsonValue element) {
    if (!parsed.parent) {
      parsed.parent = IntegerOf(element);
    }
  });
}

bool NodeReader::Finish(ParsedNode& parsed) {
  ExecutionNode& node = parsed.node;
  if (!id_ || !has_name_) {
    diagnostics_.Add(kMissingField, id_ ? fmt::format("name of node {}", *id_)
                                        : "id of a node");
    return false;
  }
  node.id = *id_;
  if (const auto kind = DeviceKindOfCategory(category_)) {
    // On device events "tid" is the stream.
    node.kind = NodeKind::kDevice;
    node.device_kind = *kind;
    if (event_stream_) {
      node.stream = *event_stream_;
    } else if (node.stream < 0) {
      node.stream = node.thread;
    }
    node.thread = 0;
    return true;
  }
  node.kind = HostNodeKind(strings_.view(node.name), node.scope);
  return true;
}

std::optional<int64_t> NodeReader::IntegerOf(JsonValue value) {
  const auto number = value.AsInt();
  if (!number) {
    diagnostics_.Add(kBadNumber,
                     id_ ? fmt::format("node {}", *id_) : std::string());
  }
  return number;
}

std::optional<Duration> NodeReader::TimeOf(JsonValue value,
                                           bool may_be_negative) {
  if (value.is_null()) {
    return std::nullopt;
  }
  const auto text = value.raw_string();
  const auto time = ParseMicroseconds(text ? *text : value.raw());
  if (!time || Duration(*time) > kMostTime || Duration(*time) < -kMostTime ||
      (*time < 0 && !may_be_negative)) {
    diagnostics_.Add(kBadNumber,
                     id_ ? fmt::format("node {}", *id_) : std::string());
    return std::nullopt;
  }
  return Duration(*time);
}

std::string_view NodeReader::TextOf(JsonValue value) {
  const auto raw = value.raw_string();
  return raw ? JsonUnescape(*raw, buffer_) : std::string_view();
}

StringId NodeReader::InternList(JsonValue value) {
  if (!value.is_array()) {
    return StringPool::kEmpty;
  }
  return strings_.Intern(WithoutLayout(value.raw(), buffer_));
}

std::string_view WithoutLayout(std::string_view json, std::string& buffer) {
  if (json.find('\n') == std::string_view::npos) {
    return json;
  }
  buffer.clear();
  bool in_string = false;
  for (size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (in_string && c == '\\' && at + 1 < json.size()) {
      buffer += c;
      buffer += json[++at];
      continue;
    }
    in_string = in_string != (c == '"');
    if (in_string || (c != ' ' && c != '\n' && c != '\r' && c != '\t')) {
      buffer += c;
    }
    if (!in_string && c == ',') {
      buffer += ' ';
    }
  }
  return buffer;
}

}  // namespace stepcast::ingest
