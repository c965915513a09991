<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name></name>
    <message>
        <location filename="../../desktop/sotto/ui/app/shell.py" line="+164"/>
        <location filename="../../desktop/sotto/ui/app/uncaught.py" line="+126"/>
        <source>Sotto closed unexpectedly</source>
        <translation>Sotto 意外退出</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Running the engine separately keeps a crash from closing the app. Takes effect after restart.</source>
        <translation>让引擎在独立进程中运行，即使崩溃也不会关闭应用。重启后生效。</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/app/update_notices.py" line="+67"/>
        <source>Turn on</source>
        <translation>开启</translation>
    </message>
    <message>
        <location line="+147"/>
        <location filename="../../desktop/sotto/ui/settings/quick_page.py" line="+50"/>
        <source>Quick prompt shortcut</source>
        <translation>快速提问快捷键</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>Sotto keeps running when its window is closed</source>
        <translation>窗口关闭后，Sotto 仍在运行</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>You can open or quit it from this menu.</source>
        <translation>可以从此菜单打开或退出 Sotto。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>You can open or quit it from the tray, or quit with Ctrl+Q.</source>
        <translation>可以从系统托盘打开或退出 Sotto，也可以按 Ctrl+Q 退出。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/tray.py" line="+65"/>
        <location filename="../../desktop/sotto/ui/quick/quick_panel.py" line="+136"/>
        <source>No model</source>
        <translation>无模型</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+212"/>
        <source>not loaded</source>
        <translation>未加载</translation>
    </message>
    <message>
        <location line="-5"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+0"/>
        <source>loading</source>
        <translation>正在加载</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>ready</source>
        <translation>就绪</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>answering</source>
        <translation>正在回答</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+0"/>
        <source>ejecting</source>
        <translation>正在卸载</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>could not be loaded</source>
        <translation>加载失败</translation>
    </message>
    <message>
        <location line="+30"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+68"/>
        <source>Eject Model</source>
        <translation>卸载模型</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="-23"/>
        <source>Quick Prompt</source>
        <translation>快速提问</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/quick/quick_panel.py" line="-19"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="-1"/>
        <source>New Chat</source>
        <translation>新建对话</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+148"/>
        <source>Open Sotto</source>
        <translation>打开 Sotto</translation>
    </message>
    <message>
        <location line="-146"/>
        <location filename="../../desktop/sotto/ui/quick/quick_panel.py" line="+3"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+31"/>
        <source>Quit Sotto</source>
        <translation>退出 Sotto</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/chat_settings_panel.py" line="+37"/>
        <source>Instructions that the model gets before your messages</source>
        <translation>在消息之前提供给模型的指令</translation>
    </message>
    <message>
        <location line="+18"/>
        <location filename="../../desktop/sotto/ui/window/chat_header.py" line="+37"/>
        <source>Chat settings</source>
        <translation>对话设置</translation>
    </message>
    <message>
        <location line="+6"/>
        <location line="+23"/>
        <location filename="../../desktop/sotto/ui/models/customizing/recipe_form.py" line="+59"/>
        <location line="+45"/>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="+63"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_page.py" line="+122"/>
        <source>System prompt</source>
        <translation>系统提示词</translation>
    </message>
    <message>
        <location line="-8"/>
        <source>Reset to defaults</source>
        <translation>恢复默认设置</translation>
    </message>
    <message>
        <location line="+11"/>
        <location filename="../../desktop/sotto/ui/composer/thinking_button.py" line="+37"/>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="+172"/>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="+6"/>
        <source>Thinking</source>
        <translation>思考</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/composer/format_field.py" line="+59"/>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="-33"/>
        <source>Answers</source>
        <translation>回答</translation>
    </message>
    <message>
        <location line="+15"/>
        <source>Close chat settings</source>
        <translation>关闭对话设置</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>This chat</source>
        <translation>此对话</translation>
    </message>
    <message>
        <location line="+58"/>
        <source>Fewer options</source>
        <translation>更少选项</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>More options</source>
        <translation>更多选项</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/composer.py" line="+63"/>
        <location filename="../../desktop/sotto/ui/window/dialogs.py" line="+94"/>
        <source>Attach files</source>
        <translation>添加附件</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Attach text files, PDFs or images</source>
        <translation>添加文本文件、PDF 或图片</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Take a screenshot</source>
        <translation>截图</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Attach a picture of a part of the screen</source>
        <translation>添加屏幕某一部分的图片</translation>
    </message>
    <message>
        <location line="+8"/>
        <location line="+45"/>
        <source>Send message</source>
        <translation>发送消息</translation>
    </message>
    <message>
        <location line="-25"/>
        <source>Write a message</source>
        <translation>输入消息</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Shift+Enter for a new line</source>
        <translation>按 Shift+Enter 换行</translation>
    </message>
    <message>
        <location line="+21"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="-100"/>
        <source>Stop loading</source>
        <translation>停止加载</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Stop answering</source>
        <translation>停止回答</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Stop (Esc)</source>
        <translation>停止 (Esc)</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Send (Enter)</source>
        <translation>发送 (Enter)</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/session/session.py" line="+148"/>
        <source>This model cannot chat</source>
        <translation>此模型无法对话</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Sends after this answer</source>
        <translation>将在本次回答后发送</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Sends as soon as the model is loaded</source>
        <translation>模型加载完成后立即发送</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/attaching.py" line="+146"/>
        <source>Not attached</source>
        <translation>未添加附件</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/context_actions.py" line="+82"/>
        <source>Drop oldest messages</source>
        <translation>丢弃最早的消息</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Continue in a new chat with a summary</source>
        <translation>带上摘要，在新对话中继续</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Only the beginning of {name}</source>
        <translation>仅发送 {name} 的开头</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Only the end of {name}</source>
        <translation>仅发送 {name} 的结尾</translation>
    </message>
    <message>
        <location line="+20"/>
        <source>Make {name} smaller ({tokens} tokens instead of {before})</source>
        <translation>缩小 {name}（{tokens} 个词元，原为 {before} 个）</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>Raise the context to {tokens} (memory need unknown)</source>
        <translation>将上下文增至 {tokens}（所需内存未知）</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Raise the context to {tokens} (up to {size} more memory)</source>
        <translation>将上下文增至 {tokens}（最多再占用 {size} 内存）</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/context_gauge.py" line="+58"/>
        <source>The oldest messages are dropped; with them it would be {tokens}.</source>
        <translation>最早的消息会被丢弃；若全部保留则为 {tokens} 个。</translation>
    </message>
    <message>
        <location line="+44"/>
        <source>Context: {used} of {limit} tokens, {share} %.</source>
        <translation>上下文：已用 {used} 个 Token，上限 {limit} 个，占 {share}%。</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Context: {used} of {limit} tokens, all.</source>
        <translation>上下文：已用 {used} 个 Token，上限 {limit} 个，已用尽。</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>{used} of {limit} tokens, even without the oldest messages.</source>
        <translation>即使不含最早的消息，也有 {used} 个 Token，上限为 {limit} 个。</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+2"/>
        <source>Too long</source>
        <translation>内容过长</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>{used} of {limit} tokens.</source>
        <translation>共 {used} 个 Token，上限为 {limit} 个。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{left} of {limit} tokens are left for the answer.</source>
        <translation>{limit} 个 Token 中还剩 {left} 个可用于回答。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Context nearly full</source>
        <translation>上下文即将用尽</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/drop_overlay.py" line="+77"/>
        <source>Drop to import chats</source>
        <translation>松开即可导入对话</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Not a file on this computer</source>
        <translation>不是这台电脑上的文件</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Download the model first, then drop its folder here.</source>
        <translation>请先下载模型，再将其文件夹拖到此处。</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Drop to load the model in this folder</source>
        <translation>松开即可加载此文件夹中的模型</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Drop to load the model with these weights</source>
        <translation>松开即可加载使用这些权重的模型</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{name}, in the folder {folder}</source>
        <translation>{name}，位于文件夹“{folder}”中</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Drop to load this model</source>
        <translation>松开即可加载此模型</translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>{name} — and {count} more, which will not be loaded</source>
        <translation>
            <numerusform>{name}，另有 {count} 个不会加载</numerusform>
        </translation>
    </message>
    <message>
        <location line="+56"/>
        <source>Drop to attach this image to your message</source>
        <translation>松开即可将这张图片添加到消息</translation>
    </message>
    <message numerus="yes">
        <location line="-48"/>
        <source>Drop to load a model and attach this file|Drop to load a model and attach {count} files</source>
        <translation>
            <numerusform>松开即可加载模型并添加 {count} 个附件</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>Drop to attach this file to your message|Drop to attach {count} files to your message</source>
        <translation>
            <numerusform>松开即可将 {count} 个文件添加到消息</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+7"/>
        <source>{names} — and {count} more</source>
        <translation>
            <numerusform>{names}，以及另外 {count} 个</numerusform>
        </translation>
    </message>
    <message>
        <location line="+34"/>
        <source>Drop to import this model</source>
        <translation>松开以导入此模型</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/format_field.py" line="-23"/>
        <source>Answers stay text until you enter one.</source>
        <translation>输入 Schema 之前，回答仍为文本。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The previous choice still applies.</source>
        <translation>之前的选择仍然有效。</translation>
    </message>
    <message>
        <location line="+22"/>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="-3"/>
        <source>Text</source>
        <translation>文本</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Schema</source>
        <translation>Schema</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Answer schema</source>
        <translation>回答的 Schema</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Type or paste a JSON schema, or choose a file</source>
        <translation>输入或粘贴 JSON Schema，或选择文件</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Choose a File…</source>
        <translation>选择文件…</translation>
    </message>
    <message>
        <location line="+90"/>
        <source>Choose a schema</source>
        <translation>选择 Schema</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Schemas</source>
        <translation>Schema 文件</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/preset_bar.py" line="+46"/>
        <source>Preset name</source>
        <translation>预设名称</translation>
    </message>
    <message>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/models/downloads.py" line="+190"/>
        <location filename="../../desktop/sotto/ui/models/keeping/model_keeper.py" line="+185"/>
        <location filename="../../desktop/sotto/ui/models/model_trash.py" line="+90"/>
        <location filename="../../desktop/sotto/ui/window/main_window.py" line="+408"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+8"/>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Undo: restore the preset</source>
        <translation>撤销：恢复预设</translation>
    </message>
    <message>
        <location line="+45"/>
        <location line="+23"/>
        <source>None</source>
        <comment>preset</comment>
        <translation>无</translation>
    </message>
    <message>
        <location line="-17"/>
        <source>Save Changes to “{name}”</source>
        <translation>将更改保存到“{name}”</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Save as Preset…</source>
        <translation>保存为预设…</translation>
    </message>
    <message>
        <location line="+4"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+354"/>
        <location filename="../../desktop/sotto/ui/window/chat_list.py" line="+307"/>
        <location line="+24"/>
        <source>Rename…</source>
        <translation>重命名…</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+2"/>
        <location filename="../../desktop/sotto/ui/settings/data_page.py" line="+21"/>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/settings/memory_page.py" line="+55"/>
        <location filename="../../desktop/sotto/ui/window/main_window.py" line="+14"/>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Preset: {name}</source>
        <translation>预设：{name}</translation>
    </message>
    <message>
        <location line="+25"/>
        <source>“{name}” was deleted; this chat keeps its settings.</source>
        <translation>已删除“{name}”；此对话的设置保持不变。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/thinking_button.py" line="-20"/>
        <source>Think: on</source>
        <translation>思考：开</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Think: off</source>
        <translation>思考：关</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Think: low</source>
        <translation>思考：低</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Think: medium</source>
        <translation>思考：中</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Think: high</source>
        <translation>思考：高</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Think: max</source>
        <translation>思考：最高</translation>
    </message>
    <message>
        <location line="+45"/>
        <source>No thinking mode</source>
        <translation>无思考模式</translation>
    </message>
    <message>
        <location line="+21"/>
        <location line="+11"/>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="+45"/>
        <location line="+16"/>
        <source>Default</source>
        <translation>默认</translation>
    </message>
    <message>
        <location line="-9"/>
        <source>From Settings: {choice}</source>
        <translation>来自设置：{choice}</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Think</source>
        <translation>思考</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Thinking: {choice}</source>
        <translation>思考：{choice}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/answer_announcer.py" line="+65"/>
        <source>{model} answers</source>
        <translation>{model} 正在回答</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>The answer continues</source>
        <translation>继续回答</translation>
    </message>
    <message>
        <location line="+32"/>
        <location filename="../../desktop/sotto/ui/toolkit/announcements.py" line="+22"/>
        <source>(code)</source>
        <translation>（代码）</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>There is no answer; your message is back in the composer.</source>
        <translation>没有得到回答；消息已放回输入框。</translation>
    </message>
    <message>
        <location line="+15"/>
        <source>The answer is complete.</source>
        <translation>回答已完成。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The answer was stopped.</source>
        <translation>回答已停止。</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>The answer was interrupted.</source>
        <translation>回答已中断。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/answer_wording.py" line="+13"/>
        <source>Started to call a tool</source>
        <translation>已开始调用工具</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>finished</source>
        <translation>已完成</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>reached the length limit</source>
        <translation>已达长度上限</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>stopped because it repeated itself</source>
        <translation>因内容重复而停止</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Reading prompt {done} / {total}</source>
        <translation>正在读取提示词 {done} / {total}</translation>
    </message>
    <message>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+28"/>
        <source>Answering</source>
        <translation>正在回答</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Thought</source>
        <translation>已思考</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Thought for {duration}</source>
        <translation>已思考 {duration}</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>Wants to use {tool}</source>
        <translation>想要使用 {tool}</translation>
    </message>
    <message>
        <location line="+20"/>
        <source>Edited</source>
        <translation>已编辑</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Interrupted: Sotto closed unexpectedly</source>
        <translation>已中断：Sotto 意外退出</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Interrupted</source>
        <translation>已中断</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+41"/>
        <source>Stopped before the answer started</source>
        <translation>在回答开始前已停止</translation>
    </message>
    <message>
        <location line="-39"/>
        <source>Stopped</source>
        <translation>已停止</translation>
    </message>
    <message numerus="yes">
        <location line="+42"/>
        <source>1 older token dropped|{count} older tokens dropped</source>
        <translation>
            <numerusform>丢弃了 {count} 个较早的 Token</numerusform>
        </translation>
    </message>
    <message>
        <location line="+4"/>
        <source>first after {duration}</source>
        <translation>首个 Token 用时 {duration}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>prompt {tokens}</source>
        <translation>提示词 {tokens}</translation>
    </message>
    <message>
        <location line="+23"/>
        <source>{count} cached</source>
        <translation>已缓存 {count}</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>only {count} cached: {reason}</source>
        <translation>仅缓存 {count}：{reason}</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>none cached: {reason}</source>
        <translation>无缓存：{reason}</translation>
    </message>
    <message numerus="yes">
        <location line="-13"/>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="+339"/>
        <location filename="../../desktop/sotto/ui/transcript/attachment_chips.py" line="+275"/>
        <location filename="../../desktop/sotto/ui/window/request_list.py" line="+141"/>
        <source>1 token|{count} tokens</source>
        <translation>
            <numerusform>{count} 个 Token</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location filename="../../desktop/sotto/ui/composer/attaching.py" line="-44"/>
        <source>A message can have at most {count} files: attach fewer, or combine them.</source>
        <translation>
            <numerusform>一条消息最多可添加 {count} 个文件：请减少附件，或将文件合并。</numerusform>
        </translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Not everything was attached</source>
        <translation>部分文件未添加</translation>
    </message>
    <message>
        <location line="+18"/>
        <source>{file} is already attached to this message.</source>
        <translation>{file} 已附加到这条消息。</translation>
    </message>
    <message numerus="yes">
        <location line="+24"/>
        <source>{count} files were not attached</source>
        <translation>
            <numerusform>{count} 个文件未添加</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/chat_library.py" line="+175"/>
        <source>New folder</source>
        <translation>新建文件夹</translation>
    </message>
    <message numerus="yes">
        <location filename="../../desktop/sotto/ui/conversation/chat_loading.py" line="+41"/>
        <source>1 message of this chat can no longer be read; everything else is here.|{count} messages of this chat can no longer be read; everything else is here.</source>
        <translation>
            <numerusform>此对话中有 {count} 条消息已无法读取；其余内容都在。</numerusform>
        </translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Not everything could be read</source>
        <translation>部分内容无法读取</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/chat_session.py" line="+168"/>
        <source>Waiting for the model…</source>
        <translation>正在等待模型…</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Reading prompt…</source>
        <translation>正在读取提示词…</translation>
    </message>
    <message>
        <location line="+162"/>
        <source>No answer</source>
        <translation>没有回答</translation>
    </message>
    <message>
        <location line="+151"/>
        <source>No summary</source>
        <translation>没有摘要</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/chat_thread.py" line="+173"/>
        <source>{file} could not be read or written: {reason}.</source>
        <translation>无法读取或写入 {file}：{reason}。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/prefix_reuse.py" line="+43"/>
        <source>this model has not seen it yet</source>
        <translation>此模型尚未读过该提示词</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>the setting for thinking was changed</source>
        <translation>思考设置已更改</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>the oldest messages were dropped</source>
        <translation>最早的消息已被丢弃</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>its cache was evicted</source>
        <translation>其缓存已被清除</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>the system prompt was changed</source>
        <translation>系统提示词已更改</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>an earlier message was changed</source>
        <translation>之前的某条消息已更改</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/row_ids.py" line="+58"/>
        <source>The message before this one could not be saved, so this one is not saved either.</source>
        <translation>前一条消息未能保存，因此这条消息也未保存。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/summary.py" line="+78"/>
        <source>The model wrote nothing.</source>
        <translation>模型没有生成任何内容。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/markdown/code_header.py" line="+33"/>
        <source>Code in {language}</source>
        <translation>{language} 代码</translation>
    </message>
    <message>
        <location line="+0"/>
        <location line="+1"/>
        <source>Code</source>
        <translation>代码</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Wrap lines</source>
        <translation>自动换行</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Wrap long lines</source>
        <translation>长行自动换行</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Copy code</source>
        <translation>复制代码</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/transcript/message_menu.py" line="+51"/>
        <location filename="../../desktop/sotto/ui/transcript/message_widget.py" line="+41"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+3"/>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/report_dialog.py" line="+47"/>
        <source>Report</source>
        <translation>报告</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Copy report</source>
        <translation>复制报告</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Show logs</source>
        <translation>显示日志</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>This report stays on your computer unless you send it. It has no messages, keys or names of chats.</source>
        <translation>除非您自行发送，此报告只保留在您的电脑上。其中不含消息、密钥或对话名称。</translation>
    </message>
    <message>
        <location line="+19"/>
        <location filename="../../desktop/sotto/ui/markdown/code_header.py" line="+12"/>
        <location filename="../../desktop/sotto/ui/settings/api_page.py" line="+147"/>
        <location filename="../../desktop/sotto/ui/transcript/answer_message.py" line="+200"/>
        <location filename="../../desktop/sotto/ui/transcript/picture_viewer.py" line="+157"/>
        <location filename="../../desktop/sotto/ui/transcript/user_message.py" line="+98"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="+205"/>
        <source>Copied</source>
        <translation>已复制</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/markdown/view.py" line="+288"/>
        <source>Scroll table sideways</source>
        <translation>横向滚动表格</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Scroll code sideways</source>
        <translation>横向滚动代码</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/discovery_summary.py" line="+63"/>
        <location line="+76"/>
        <source>Searched folders</source>
        <translation>已搜索的文件夹</translation>
    </message>
    <message>
        <location line="-74"/>
        <location filename="../../desktop/sotto/ui/models/models_controller.py" line="+340"/>
        <source>Add a model folder</source>
        <translation>添加模型文件夹</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Add folder…</source>
        <translation>添加文件夹…</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/finding_page.py" line="+40"/>
        <location line="+34"/>
        <location filename="../../desktop/sotto/ui/models/discovery_summary.py" line="+2"/>
        <location filename="../../desktop/sotto/ui/models/download_form.py" line="+45"/>
        <location line="+28"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="-244"/>
        <location filename="../../desktop/sotto/ui/models/model_picker.py" line="+71"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="+70"/>
        <source>Get a model</source>
        <translation>获取模型</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/sight_actions.py" line="+64"/>
        <source>{model} does not see images</source>
        <translation>{model} 看不到图片</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Switch to a model that sees them, or send without.</source>
        <translation>请切换到能看图片的模型，或不带图片发送。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>None of your models sees images: get one that does, or send without.</source>
        <translation>您的模型都看不到图片：请获取一个能看图片的模型，或不带图片发送。</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Use {model}</source>
        <translation>使用 {model}</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/models/discovery_summary.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/models/model_picker.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="+0"/>
        <source>Get a model…</source>
        <translation>获取模型…</translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>Send without image|Send without images</source>
        <translation>
            <numerusform>不带图片发送</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/discovery_summary.py" line="+10"/>
        <source>Looking for models…</source>
        <translation>正在查找模型…</translation>
    </message>
    <message>
        <location line="+32"/>
        <source>Sotto reads them in place and never changes them. Drop a model here to add it.</source>
        <translation>Sotto 直接从原位置读取模型，绝不会更改它们。将模型拖到此处即可添加。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>No other models found yet</source>
        <translation>尚未找到其他模型</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Models of Ollama, LM Studio and Hugging Face tools appear by themselves. Drop a model here to add it.</source>
        <translation>Ollama、LM Studio 和 Hugging Face 工具的模型会自动显示。将模型拖到此处即可添加。</translation>
    </message>
    <message>
        <location line="+15"/>
        <source>not found</source>
        <translation>未找到</translation>
    </message>
    <message numerus="yes">
        <location line="+17"/>
        <source>Found 1 model you already have ({size})|Found {count} models you already have ({size})</source>
        <translation>
            <numerusform>找到 {count} 个已有的模型（{size}）</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+5"/>
        <location filename="../../desktop/sotto/ui/models/memory_gauge.py" line="+183"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+235"/>
        <location filename="../../desktop/sotto/ui/settings/folders_page.py" line="+108"/>
        <source>1 model|{count} models</source>
        <translation>
            <numerusform>{count} 个模型</numerusform>
        </translation>
    </message>
    <message>
        <location line="+0"/>
        <source>no models</source>
        <translation>没有模型</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>4-bit models of up to about {billions}B suit this machine ({size} of memory).</source>
        <translation>这台电脑（内存 {size}）适合运行约 {billions}B 以内的 4 位模型。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_controller.py" line="+84"/>
        <source>The model was not downloaded</source>
        <translation>模型未下载</translation>
    </message>
    <message>
        <location line="+32"/>
        <location filename="../../desktop/sotto/ui/models/keeping/model_keeper.py" line="+3"/>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="-221"/>
        <location line="+272"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_controller.py" line="+110"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+223"/>
        <source>Load</source>
        <translation>加载</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/report_dialog.py" line="-28"/>
        <location filename="../../desktop/sotto/ui/models/download_form.py" line="-27"/>
        <location filename="../../desktop/sotto/ui/models/keeping/name_form.py" line="+31"/>
        <location filename="../../desktop/sotto/ui/window/chat_list.py" line="-2"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="-154"/>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/customizing/recipe_form.py" line="-51"/>
        <location filename="../../desktop/sotto/ui/models/download_form.py" line="+2"/>
        <location filename="../../desktop/sotto/ui/models/keeping/name_form.py" line="-2"/>
        <location line="+4"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_sheet.py" line="+79"/>
        <source>Name of the model</source>
        <translation>模型名称</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Instructions that the model gets before each conversation</source>
        <translation>每次对话前提供给模型的指令</translation>
    </message>
    <message>
        <location line="+8"/>
        <location line="+38"/>
        <source>Stop texts</source>
        <translation>停止文本</translation>
    </message>
    <message>
        <location line="-37"/>
        <source>One per line</source>
        <translation>每行一个</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Template</source>
        <translation>模板</translation>
    </message>
    <message>
        <location line="+6"/>
        <location line="+45"/>
        <source>What the model reads</source>
        <translation>模型读到的内容</translation>
    </message>
    <message>
        <location line="-17"/>
        <source>Options</source>
        <translation>选项</translation>
    </message>
    <message>
        <location line="+70"/>
        <source>The template leaves the system prompt out.</source>
        <translation>该模板未使用系统提示词。</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Hide the template</source>
        <translation>隐藏模板</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Change the template</source>
        <translation>更改模板</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_card.py" line="+38"/>
        <source>The selected model</source>
        <translation>所选模型</translation>
    </message>
    <message>
        <location line="+8"/>
        <location filename="../../desktop/sotto/ui/gallery/offer_list.py" line="+227"/>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="+89"/>
        <source>Suits this machine best</source>
        <translation>最适合这台电脑</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Show its page in the browser</source>
        <translation>在浏览器中显示其页面</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Its page</source>
        <translation>模型页面</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Opens your browser</source>
        <translation>打开浏览器</translation>
    </message>
    <message>
        <location line="+134"/>
        <location filename="../../desktop/sotto/ui/models/download_form.py" line="+10"/>
        <source>Get</source>
        <translation>获取</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Get {name}</source>
        <translation>获取 {name}</translation>
    </message>
    <message>
        <location line="+35"/>
        <source>You have it</source>
        <translation>已拥有</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_form.py" line="+0"/>
        <source>Get the model</source>
        <translation>获取该模型</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>The name of a model in Ollama’s library, such as llama3.2:3b, or of one on Hugging Face, such as mlx-community/Qwen3-0.6B-4bit.</source>
        <translation>Ollama 模型库中的模型名称，例如 llama3.2:3b；或 Hugging Face 上的模型名称，例如 mlx-community/Qwen3-0.6B-4bit。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="-76"/>
        <source>Programming</source>
        <translation>编程</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Many languages</source>
        <translation>多种语言</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Long texts</source>
        <translation>长文本</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Mathematics</source>
        <translation>数学</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Made in the open</source>
        <translation>公开研发</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Everyday questions</source>
        <translation>日常问答</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Small machines</source>
        <translation>小型设备</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Thinks first</source>
        <translation>先思考</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Uses tools</source>
        <translation>使用工具</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Download by this name</source>
        <translation>按此名称下载</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>Made by</source>
        <translation>开发者</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Published by</source>
        <translation>发布者</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Architecture</source>
        <translation>架构</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/models/download_list.py" line="+37"/>
        <location filename="../../desktop/sotto/ui/settings/folders_page.py" line="-57"/>
        <source>Downloads</source>
        <translation>下载</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>{name} licence</source>
        <translation>{name} 许可证</translation>
    </message>
    <message>
        <location line="+14"/>
        <source>{fit} with {count} tokens</source>
        <translation>{fit}，{count} 个 token</translation>
    </message>
    <message>
        <location line="+28"/>
        <source>On {host}</source>
        <translation>在 {host} 上</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>By name</source>
        <translation>按名称</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Suggestions</source>
        <translation>推荐</translation>
    </message>
    <message numerus="yes">
        <location line="+6"/>
        <source>1 download|{count} downloads</source>
        <translation>
            <numerusform>{count} 次下载</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_row.py" line="+28"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_list.py" line="+71"/>
        <source>Resume</source>
        <translation>继续</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Resume the download of {name}</source>
        <translation>继续下载 {name}</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/state/model_state.py" line="+131"/>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Try the download of {name} again</source>
        <translation>重新下载 {name}</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+24"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_list.py" line="-36"/>
        <location line="+36"/>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <location line="-24"/>
        <source>Pause the download of {name}</source>
        <translation>暂停下载 {name}</translation>
    </message>
    <message>
        <location line="+26"/>
        <source>Cancel the download of {name}</source>
        <translation>取消下载 {name}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/customizing/customize_sheet.py" line="+39"/>
        <location filename="../../desktop/sotto/ui/models/download_row.py" line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_list.py" line="-33"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_sheet.py" line="+17"/>
        <location filename="../../desktop/sotto/ui/transcript/message_editor.py" line="+57"/>
        <location filename="../../desktop/sotto/ui/window/chat_files.py" line="+186"/>
        <location line="+23"/>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Create</source>
        <translation>创建</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Create the model</source>
        <translation>创建模型</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_row.py" line="+2"/>
        <source>Downloaded</source>
        <translation>下载进度</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_words.py" line="+20"/>
        <location filename="../../desktop/sotto/ui/window/request_list.py" line="-116"/>
        <source>Queued</source>
        <translation>排队中</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Looking it up</source>
        <translation>正在查找</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_card.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/models/download_words.py" line="+1"/>
        <source>Downloading</source>
        <translation>正在下载</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_words.py" line="+1"/>
        <source>Stalled</source>
        <translation>下载停滞</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Retrying</source>
        <translation>正在重试</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_job.py" line="+32"/>
        <source>Paused</source>
        <translation>已暂停</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Verifying</source>
        <translation>正在校验</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_job.py" line="+1"/>
        <source>Failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <location line="+12"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+21"/>
        <source>{done} of {total}</source>
        <translation>{done} / {total}</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>more than a day left</source>
        <translation>剩余一天以上</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+3"/>
        <source>{time} left</source>
        <translation>剩余 {time}</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>Updating</source>
        <translation>正在更新</translation>
    </message>
    <message>
        <location line="+21"/>
        <source>From Ollama’s library, at {host}.</source>
        <translation>来自 Ollama 模型库（{host}）。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>From Hugging Face, where {owner} publishes it.</source>
        <translation>来自 Hugging Face，由 {owner} 发布。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>From {host}, where {owner} publishes it.</source>
        <translation>来自 {host}，由 {owner} 发布。</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>You already have it: {places}.</source>
        <translation>已有此模型：{places}。</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>{name} is being downloaded.</source>
        <translation>正在下载 {name}。</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>{name} could not be downloaded</source>
        <translation>无法下载 {name}</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Its {size} were checked.</source>
        <translation>已校验其 {size} 数据。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{name} is up to date</source>
        <translation>{name} 已是最新</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{size} were downloaded and checked.</source>
        <translation>已下载并校验 {size}。</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_job.py" line="+58"/>
        <source>{name} is here</source>
        <translation>{name} 已下载</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/downloads.py" line="-49"/>
        <source>Earlier downloads could not be read</source>
        <translation>无法读取之前的下载</translation>
    </message>
    <message>
        <location line="+46"/>
        <source>The download of {name} was cancelled</source>
        <translation>已取消下载 {name}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The {size} downloaded so far will be deleted in a moment.</source>
        <translation>已下载的 {size} 稍后将被删除。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/idle_unloader.py" line="+68"/>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="-92"/>
        <source>Stays loaded</source>
        <translation>保持常驻</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Unloads in {time} if idle</source>
        <translation>若闲置，{time}后卸载</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/memory_gauge.py" line="-157"/>
        <source>{free} free</source>
        <translation>可用 {free}</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Memory: {free} of {total} free</source>
        <translation>内存：可用 {free}，共 {total}</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>{free} free · getting tight</source>
        <translation>可用 {free} · 趋于紧张</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Memory getting tight: {free} of {total} free</source>
        <translation>内存趋于紧张：可用 {free}，共 {total}</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{free} free · nearly full</source>
        <translation>可用 {free} · 即将用尽</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Memory nearly full: {free} of {total} free</source>
        <translation>内存即将用尽：可用 {free}，共 {total}</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{free} free · critical</source>
        <translation>可用 {free} · 严重不足</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Memory critical: {free} of {total} free</source>
        <translation>内存严重不足：可用 {free}，共 {total}</translation>
    </message>
    <message>
        <location line="+48"/>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+63"/>
        <source>Show memory details</source>
        <translation>显示内存详情</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Hide memory details</source>
        <translation>隐藏内存详情</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Memory unknown</source>
        <translation>内存情况未知</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Contexts take at most {size}</source>
        <translation>上下文最多占用 {size}</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Other programs</source>
        <translation>其他程序</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>This model</source>
        <translation>此模型</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Context in use</source>
        <translation>使用中的上下文</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/settings/data_page.py" line="+8"/>
        <location filename="../../desktop/sotto/ui/settings/memory_page.py" line="+23"/>
        <source>Prompt cache</source>
        <translation>提示词缓存</translation>
    </message>
    <message numerus="yes">
        <location line="+3"/>
        <source>A context of 1 token|A context of {count} tokens</source>
        <translation>
            <numerusform>{count} 个 Token 的上下文</numerusform>
        </translation>
    </message>
    <message>
        <location line="+50"/>
        <source>{name} would take {size}</source>
        <translation>{name} 将占用 {size}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="-262"/>
        <source>Weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+110"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="-183"/>
        <source>Context</source>
        <translation>上下文</translation>
    </message>
    <message>
        <location line="-109"/>
        <source>While computing</source>
        <translation>计算时占用</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Together</source>
        <translation>合计</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Predicted</source>
        <translation>预计</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>In use now</source>
        <translation>当前占用</translation>
    </message>
    <message>
        <location line="+49"/>
        <location line="+206"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+30"/>
        <source>Favourite</source>
        <translation>收藏</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_card.py" line="-175"/>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="-203"/>
        <source>Close details</source>
        <translation>关闭详情</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="+8"/>
        <location line="+218"/>
        <source>Add adapter…</source>
        <translation>添加适配器…</translation>
    </message>
    <message>
        <location line="-214"/>
        <source>Keep the model in Sotto’s own store, so that it stays when the other program deletes it</source>
        <translation>将模型保留在 Sotto 自己的存储中，这样其他程序删除它后它仍会保留</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Keep a copy…</source>
        <translation>保留副本…</translation>
    </message>
    <message>
        <location line="+7"/>
        <location filename="../../desktop/sotto/ui/preferences/sampling_options.py" line="+61"/>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="-23"/>
        <source>Context length</source>
        <translation>上下文长度</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>More about this model</source>
        <translation>此模型的更多操作</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Keep the model in memory when it is idle</source>
        <translation>闲置时仍将模型保留在内存中</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+173"/>
        <source>Keep loaded</source>
        <translation>常驻内存</translation>
    </message>
    <message>
        <location line="-6"/>
        <source>Details of {name}</source>
        <translation>{name} 的详情</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Favourites come first in the list</source>
        <translation>收藏的模型会排在列表最前面</translation>
    </message>
    <message>
        <location line="+22"/>
        <source>Adapter: {name}</source>
        <translation>适配器：{name}</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>No adapter</source>
        <translation>无适配器</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Remove adapter</source>
        <translation>移除适配器</translation>
    </message>
    <message>
        <location line="+14"/>
        <source>Unknown whether it fits</source>
        <translation>无法判断内存是否够用</translation>
    </message>
    <message>
        <location line="+18"/>
        <source>Converted to {format}</source>
        <translation>已转换为 {format}</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>{needed} of {total}</source>
        <translation>{needed} / {total}</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>It will be available again once its disk is connected.</source>
        <translation>连接其所在磁盘后即可再次使用。</translation>
    </message>
    <message>
        <location line="+21"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="-34"/>
        <source>Eject</source>
        <translation>卸载</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="-9"/>
        <source>Eject {name}</source>
        <translation>卸载 {name}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/keeping/name_form.py" line="+7"/>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="+2"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+25"/>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+8"/>
        <source>Stop loading {name}</source>
        <translation>停止加载 {name}</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Load anyway</source>
        <translation>仍然加载</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Load {name} anyway</source>
        <translation>仍然加载 {name}</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Load {name}</source>
        <translation>加载 {name}</translation>
    </message>
    <message>
        <location line="+92"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+275"/>
        <source>unknown</source>
        <translation>未知</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="-147"/>
        <source>Built in</source>
        <translation>内置</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Folder</source>
        <translation>文件夹</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>fits into memory</source>
        <translation>内存充足</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>a tight fit</source>
        <translation>内存紧张</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>does not fit into memory</source>
        <translation>内存不足</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>unknown whether it fits</source>
        <translation>无法判断内存是否够用</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Disk not connected</source>
        <translation>磁盘未连接</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>favourite</source>
        <translation>已收藏</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>stays loaded</source>
        <translation>常驻内存</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="-15"/>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="+32"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="-210"/>
        <source>Cannot run here</source>
        <translation>无法在此运行</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="-31"/>
        <source>sees images</source>
        <translation>能看图片</translation>
    </message>
    <message>
        <location line="+33"/>
        <source>Loaded</source>
        <translation>已加载</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+67"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="-32"/>
        <source>Could not be loaded</source>
        <translation>加载失败</translation>
    </message>
    <message>
        <location line="+33"/>
        <source>{bits}-bit</source>
        <translation>{bits} 位</translation>
    </message>
    <message>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+179"/>
        <source>vectors</source>
        <translation>向量</translation>
    </message>
    <message numerus="yes">
        <location line="+24"/>
        <source>1-token context|{count}-token context</source>
        <translation>
            <numerusform>{count} 个 Token 的上下文</numerusform>
        </translation>
    </message>
    <message>
        <location line="+5"/>
        <source>{number} parameters</source>
        <translation>{number} 参数</translation>
    </message>
    <message>
        <location line="+18"/>
        <source>Images</source>
        <translation>图片</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Tools</source>
        <translation>工具</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Embeddings, with sotto embed or the API</source>
        <translation>嵌入（通过 sotto embed 或 API）</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Embeddings</source>
        <translation>嵌入</translation>
    </message>
    <message>
        <location line="+14"/>
        <source>{size} on disk, deleting frees {freed}</source>
        <translation>占用磁盘 {size}，删除可释放 {freed}</translation>
    </message>
    <message>
        <location line="+16"/>
        <source>Memory in use after loading: {percent} % of {size}.</source>
        <translation>加载后内存占用率：{percent}%（共 {size}）。</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>Predicted {size}, uses {actual}</source>
        <translation>预计 {size}，实际占用 {actual}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="-90"/>
        <source>Recently Used</source>
        <translation>最近使用</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/customizing/recipe_form.py" line="-84"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_sheet.py" line="+23"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="-279"/>
        <location filename="../../desktop/sotto/ui/window/chat_list_model.py" line="+342"/>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+1"/>
        <source>Size</source>
        <translation>大小</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+3"/>
        <source>Fit</source>
        <translation>内存适配</translation>
    </message>
    <message>
        <location line="+74"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="+16"/>
        <source>Rescan models</source>
        <translation>重新扫描模型</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="-2"/>
        <source>Sort models</source>
        <translation>排序模型</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_picker.py" line="+0"/>
        <source>Download a model by name</source>
        <translation>按名称下载模型</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+2"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="-15"/>
        <source>Find a model to download</source>
        <translation>查找要下载的模型</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/models/model_picker.py" line="+3"/>
        <source>Manage models</source>
        <translation>管理模型</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Manage…</source>
        <translation>管理…</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/models/model_picker.py" line="-1"/>
        <source>Show all models on a page</source>
        <translation>在页面中显示所有模型</translation>
    </message>
    <message>
        <location line="+12"/>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/models/model_table_view.py" line="+92"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="-6"/>
        <location line="+61"/>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="+10"/>
        <location filename="../../desktop/sotto/ui/settings/memory_page.py" line="-10"/>
        <location filename="../../desktop/sotto/ui/window/dialogs.py" line="-13"/>
        <source>Models</source>
        <translation>模型</translation>
    </message>
    <message>
        <location line="+170"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="+122"/>
        <source>No model is called “{text}”.</source>
        <translation>没有名为“{text}”的模型。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Other models appear here. Get one below, or drop one on this window.</source>
        <translation>其他模型会显示在这里。可在下方获取模型，或将模型拖到此窗口。</translation>
    </message>
    <message>
        <location line="+33"/>
        <source>Use</source>
        <translation>使用</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Details</source>
        <translation>详情</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Copy Name</source>
        <translation>复制名称</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Show Folder</source>
        <translation>显示文件夹</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Verify Files</source>
        <translation>校验文件</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Customize…</source>
        <translation>自定义…</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Use a Template…</source>
        <translation>使用模板…</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Use the Model’s Template</source>
        <translation>使用模型自带模板</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Duplicate…</source>
        <translation>复制…</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Keep a Copy…</source>
        <translation>保留副本…</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Keep Loaded</source>
        <translation>常驻内存</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_picker.py" line="-20"/>
        <location filename="../../desktop/sotto/ui/state/model_state.py" line="+1"/>
        <location filename="../../desktop/sotto/ui/window/chat_header.py" line="+22"/>
        <source>Choose a model</source>
        <translation>选择模型</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="-170"/>
        <source>Filter models</source>
        <translation>筛选模型</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Filter models…</source>
        <translation>筛选模型…</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>No model matches.</source>
        <translation>没有匹配的模型。</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Manage models…</source>
        <translation>管理模型…</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="-253"/>
        <source>Eject and free its memory</source>
        <translation>卸载并释放其内存</translation>
    </message>
    <message>
        <location line="+70"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+218"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="-2"/>
        <source>Ejecting…</source>
        <translation>正在卸载…</translation>
    </message>
    <message>
        <location line="+35"/>
        <source>cannot run</source>
        <translation>无法运行</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>loaded, answering</source>
        <translation>已加载，正在回答</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>loaded</source>
        <translation>已加载</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="-55"/>
        <location line="+8"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="-220"/>
        <source>Parameters</source>
        <translation>参数量</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+1"/>
        <source>Bits</source>
        <translation>位数</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Source</source>
        <translation>来源</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Last used</source>
        <translation>上次使用</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Disk use</source>
        <translation>磁盘占用</translation>
    </message>
    <message numerus="yes">
        <location line="+175"/>
        <source>{shown} of 1 model|{shown} of {count} models</source>
        <translation>
            <numerusform>显示 {shown} 个，共 {count} 个模型</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="-25"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+9"/>
        <source>{size} on disk</source>
        <translation>磁盘占用 {size}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+28"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="-10"/>
        <source>Loading…</source>
        <translation>正在加载…</translation>
    </message>
    <message numerus="yes">
        <location line="+27"/>
        <source>With a context of 1 token.|With a context of {count} tokens.</source>
        <translation>
            <numerusform>上下文为 {count} 个 Token。</numerusform>
        </translation>
    </message>
    <message>
        <location line="+7"/>
        <source>All copies together, in {places}</source>
        <translation>所有副本合计，位于 {places}</translation>
    </message>
    <message>
        <location line="+26"/>
        <source>never</source>
        <translation>从未</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>{title}, sorted down</source>
        <translation>{title}，降序</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>{title}, sorted up</source>
        <translation>{title}，升序</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_templates.py" line="+114"/>
        <source>A template for {name}: Jinja or Go</source>
        <translation>{name} 的模板：Jinja 或 Go</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>{name} keeps its template</source>
        <translation>{name} 的模板未更改</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Template set</source>
        <translation>模板已设置</translation>
    </message>
    <message>
        <location line="-1"/>
        <source>It makes the prompts of {name} from now on.</source>
        <translation>从现在起，{name} 的提示词由它生成。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>It makes the prompts of {name} from the next load on.</source>
        <translation>从下次加载起，{name} 的提示词由它生成。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Template reset</source>
        <translation>模板已重置</translation>
    </message>
    <message>
        <location line="-1"/>
        <source>{name} uses its own template from now on.</source>
        <translation>从现在起，{name} 使用自带模板。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{name} uses its own template from the next load on.</source>
        <translation>从下次加载起，{name} 使用自带模板。</translation>
    </message>
    <message>
        <location line="+30"/>
        <source>The folder of a LoRA adapter for {name}</source>
        <translation>用于 {name} 的 LoRA 适配器文件夹</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>{name} keeps its adapter</source>
        <translation>{name} 的适配器保持不变</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Adapter added</source>
        <translation>已添加适配器</translation>
    </message>
    <message>
        <location line="-1"/>
        <source>{name} answers with it from now on.</source>
        <translation>从现在起，{name} 使用它回答。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{name} answers with it from the next load on.</source>
        <translation>从下次加载起，{name} 使用它回答。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Adapter removed</source>
        <translation>已移除适配器</translation>
    </message>
    <message>
        <location line="-1"/>
        <source>{name} answers without one from now on.</source>
        <translation>从现在起，{name} 不使用适配器回答。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{name} answers without one from the next load on.</source>
        <translation>从下次加载起，{name} 不使用适配器回答。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_trash.py" line="-5"/>
        <source>{name} was not deleted</source>
        <translation>{name} 未删除</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{name} was deleted</source>
        <translation>已删除 {name}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Frees {size} once the trash is emptied, in an hour.</source>
        <translation>一小时后清空废纸篓时释放 {size}。</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>{name} could not be restored</source>
        <translation>无法恢复 {name}</translation>
    </message>
    <message>
        <location line="+48"/>
        <source>Restore {name}</source>
        <translation>恢复 {name}</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Empty the Trash</source>
        <translation>清空废纸篓</translation>
    </message>
    <message>
        <location line="-40"/>
        <source>The trash of models could not be emptied</source>
        <translation>无法清空模型回收站</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/models_controller.py" line="+12"/>
        <source>The name of {folder} is not UTF-8, so it cannot be saved; rename the folder.</source>
        <translation>{folder} 的名称不是 UTF-8 编码，无法保存；请重命名该文件夹。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>The folder was not added</source>
        <translation>未添加文件夹</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/finding_page.py" line="-31"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="-9"/>
        <source>Back to the chat</source>
        <translation>返回对话</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="+0"/>
        <source>Back</source>
        <translation>返回</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Search for models</source>
        <translation>搜索模型</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Search Hugging Face, or type a name</source>
        <translation>搜索 Hugging Face，或输入名称</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="+5"/>
        <source>Import a folder or a GGUF file into Sotto’s own store</source>
        <translation>将文件夹或 GGUF 文件导入 Sotto 自己的存储</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Import…</source>
        <translation>导入…</translation>
    </message>
    <message>
        <location line="+15"/>
        <source>Details of the selected model</source>
        <translation>所选模型的详情</translation>
    </message>
    <message numerus="yes">
        <location line="+101"/>
        <source>1 deleted model…|{count} deleted models…</source>
        <translation>
            <numerusform>{count} 个已删除的模型…</numerusform>
        </translation>
    </message>
    <message>
        <location line="+57"/>
        <source>No models yet.</source>
        <translation>还没有模型。</translation>
    </message>
    <message>
        <location line="+43"/>
        <source>Ascending</source>
        <translation>升序</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Descending</source>
        <translation>降序</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+6"/>
        <source>Choose one above or in the list, or drop one here</source>
        <translation>在上方或列表中选择模型，或将模型拖到此处</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Loads when needed</source>
        <translation>需要时加载</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Loading</source>
        <translation>正在加载</translation>
    </message>
    <message numerus="yes">
        <location line="+3"/>
        <source>1 token of context|{count} tokens of context</source>
        <translation>
            <numerusform>上下文 {count} 个 Token</numerusform>
        </translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Ready</source>
        <translation>就绪</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>makes embeddings</source>
        <translation>生成嵌入</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="-11"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+2"/>
        <source>predicts tokens ahead</source>
        <translation>提前预测词元</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+20"/>
        <source>Reading the tokenizer</source>
        <translation>正在读取分词器</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Warming up</source>
        <translation>正在预热</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>no progress for {time}</source>
        <translation>已 {time}无进展</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/palette/palette.py" line="+49"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_exporting.py" line="+298"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_page.py" line="-39"/>
        <source>Chat</source>
        <translation>对话</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/quick/quick_panel.py" line="-47"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_exporting.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_page.py" line="+49"/>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Menu</source>
        <translation>菜单</translation>
    </message>
    <message>
        <location line="+152"/>
        <source>Command palette</source>
        <translation>命令面板</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Search chats, models and commands</source>
        <translation>搜索对话、模型和命令</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Open a chat, load a model, run a command</source>
        <translation>打开对话、加载模型、执行命令</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Results</source>
        <translation>结果</translation>
    </message>
    <message>
        <location line="+9"/>
        <location filename="../../desktop/sotto/ui/window/chat_list.py" line="-69"/>
        <source>No results.</source>
        <translation>没有结果。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/global_shortcut.py" line="+91"/>
        <source>{keys} is not a key that could be pressed: write it as Ctrl+Alt+Space.</source>
        <translation>{keys} 不是可以按下的按键：请写成 Ctrl+Alt+Space 的形式。</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>{keys} alone would stop working in all other programs: combine it with Ctrl, Alt or Meta.</source>
        <translation>单独使用 {keys} 会使它在其他所有程序中失效：请与 Ctrl、Alt 或 Meta 组合使用。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/login_item.py" line="+51"/>
        <source>{file} cannot be changed: {reason}.</source>
        <translation>无法更改 {file}：{reason}。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/mac_keys.py" line="+74"/>
        <source>{keys} cannot be taken: choose a letter, a digit or Space with Cmd, Ctrl or Option.</source>
        <translation>无法使用 {keys}：请选择字母、数字或空格键，并与 Cmd、Ctrl 或 Option 组合使用。</translation>
    </message>
    <message>
        <location line="+7"/>
        <location filename="../../desktop/sotto/ui/platform/x11_keys.py" line="+79"/>
        <source>{keys} is already used by another program: choose another shortcut for the quick prompt.</source>
        <translation>{keys} 已被其他程序占用：请为快速提问选择其他快捷键。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/portal_keys.py" line="+25"/>
        <source>Show or hide the quick prompt</source>
        <translation>显示或隐藏快速提问</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>Waiting for the desktop to grant the shortcut.</source>
        <translation>正在等待桌面环境授予快捷键。</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>The desktop grants shortcuts only to installed apps: install Sotto’s menu entry, app.sotto.desktop, or bind `sotto --toggle` in the settings of your desktop.</source>
        <translation>桌面环境只为已安装的应用分配快捷键：请安装 Sotto 的菜单项 app.sotto.desktop，或在桌面环境的设置中为 `sotto --toggle` 绑定快捷键。</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>The desktop did not grant {keys}, and will ask again at the next start: choose another shortcut or none, or bind `sotto --toggle` in the settings of your desktop.</source>
        <translation>桌面环境未授予 {keys}，下次启动时会再次询问：请选择其他快捷键或清除快捷键，也可以在桌面环境的设置中为 `sotto --toggle` 绑定快捷键。</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>The desktop did not answer the request for {keys}: choose another shortcut, or bind `sotto --toggle` in the settings of your desktop.</source>
        <translation>桌面环境未答复对 {keys} 的请求：请选择其他快捷键，或在桌面环境的设置中为 `sotto --toggle` 绑定快捷键。</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>The desktop’s shortcut service has stopped; {keys} will work again when it is back.</source>
        <translation>桌面环境的快捷键服务已停止；服务恢复后 {keys} 即可再次使用。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>The desktop could not grant {keys}: choose another shortcut, or bind `sotto --toggle` in the settings of your desktop.</source>
        <translation>桌面环境无法授予 {keys}：请选择其他快捷键，或在桌面环境的设置中为 `sotto --toggle` 绑定快捷键。</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>The desktop has withdrawn the shortcut: choose another one, or bind `sotto --toggle` in the settings of your desktop.</source>
        <translation>桌面环境已收回该快捷键：请选择其他快捷键，或在桌面环境的设置中为 `sotto --toggle` 绑定快捷键。</translation>
    </message>
    <message>
        <location line="+121"/>
        <source>Your desktop calls it “{description}”. Choose its shortcut in the settings of your desktop.</source>
        <translation>它在桌面环境中的名称为“{description}”。请在桌面环境的设置中选择其快捷键。</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Your desktop grants: {keys}. You can change it in the settings of your desktop.</source>
        <translation>桌面环境授予的快捷键：{keys}。可在桌面环境的设置中更改。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/x11_keys.py" line="-7"/>
        <source>There is no {keys} on this keyboard: choose other keys for the quick prompt.</source>
        <translation>此键盘上没有 {keys}：请为快速提问选择其他快捷键。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/preferences/answer_options.py" line="+18"/>
        <source>On</source>
        <translation>开</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Off</source>
        <translation>关</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Low</source>
        <translation>低</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Medium</source>
        <translation>中</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>High</source>
        <translation>高</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Max</source>
        <translation>最高</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Whether the model thinks before it answers and, if it can be set, how much</source>
        <translation>模型在回答前是否思考，以及思考多少（如可设置）</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Answers follow the JSON schema.</source>
        <translation>回答须符合 JSON Schema。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Answers match the regular expression.</source>
        <translation>回答须匹配正则表达式。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Answers match the Lark grammar.</source>
        <translation>回答须符合 Lark 语法。</translation>
    </message>
    <message>
        <location line="+112"/>
        <source>Answers follow {name}.</source>
        <translation>回答须符合 {name}。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Answers match {name}.</source>
        <translation>回答须匹配 {name}。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="-2"/>
        <location filename="../../desktop/sotto/ui/preferences/answer_options.py" line="-14"/>
        <source>Format</source>
        <translation>格式</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/preferences/answer_options.py" line="+9"/>
        <source>Answers are JSON objects.</source>
        <translation>回答为 JSON 对象。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/preferences/presets.py" line="+122"/>
        <source>A preset needs a name.</source>
        <translation>预设需要名称。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>A name can have at most {most} characters; this one has {count}.</source>
        <translation>名称最多 {most} 个字符；当前有 {count} 个。</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>There is already a preset “{name}”: choose another name.</source>
        <translation>已有名为“{name}”的预设：请选择其他名称。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/preferences/sampling_options.py" line="-46"/>
        <source>Max thinking tokens</source>
        <translation>最大思考 Token 数</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>In tokens; then thinking ends</source>
        <translation>以 Token 计；达到后结束思考</translation>
    </message>
    <message>
        <location line="+0"/>
        <location line="+19"/>
        <source>no limit</source>
        <translation>不限</translation>
    </message>
    <message>
        <location line="-17"/>
        <source>Temperature</source>
        <translation>温度</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>0 always picks the most likely token; higher is more varied</source>
        <translation>为 0 时始终选择概率最高的 Token；值越高，结果越多样</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Top-p</source>
        <translation>Top-p</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Samples from the most likely tokens up to this total probability</source>
        <translation>从累计概率达到此值的最可能 Token 中采样</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Top-k</source>
        <translation>Top-k</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Samples from this many of the most likely tokens; 0 from all</source>
        <translation>从这么多个最可能的 Token 中采样；0 表示从全部中采样</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Min-p</source>
        <translation>Min-p</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Excludes tokens below this fraction of the highest probability</source>
        <translation>排除概率低于最高概率此比例的 Token</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Typical-p</source>
        <translation>Typical-p</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Excludes tokens that are unusually likely or unlikely</source>
        <translation>排除概率异常高或异常低的 Token</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>XTC</source>
        <translation>XTC</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>How often the most likely tokens are excluded, for variety</source>
        <translation>为增加多样性，排除最可能 Token 的频率</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Repeat penalty</source>
        <translation>重复惩罚</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Above 1 repeats less</source>
        <translation>大于 1 时减少重复</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>DRY</source>
        <translation>DRY</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Above 0 avoids repeating whole passages</source>
        <translation>大于 0 时避免重复整段内容</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Seed</source>
        <translation>随机种子</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The same seed gives the same answer</source>
        <translation>相同的种子产生相同的回答</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>random</source>
        <translation>随机</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Max response tokens</source>
        <translation>最大回答 Token 数</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+27"/>
        <source>In tokens</source>
        <translation>以 Token 计</translation>
    </message>
    <message>
        <location line="-23"/>
        <source>Presence penalty</source>
        <translation>存在惩罚</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Subtracted once from tokens that have occurred</source>
        <translation>对已出现过的 Token 扣减一次</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Frequency penalty</source>
        <translation>频率惩罚</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Subtracted for each time that a token has occurred</source>
        <translation>Token 每出现一次就扣减一次</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Penalty window</source>
        <translation>惩罚窗口</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The penalties cover this many of the last tokens; -1 for the whole context, 0 for none</source>
        <translation>惩罚所涵盖的最近 Token 数；-1 表示整个上下文，0 表示不涵盖</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>XTC threshold</source>
        <translation>XTC 阈值</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>XTC excludes tokens at or above this probability</source>
        <translation>XTC 排除概率达到此值的 Token</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>DRY base</source>
        <translation>DRY 基数</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>How fast the DRY penalty grows with the repeated length</source>
        <translation>DRY 惩罚随重复长度增长的速度</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>DRY length</source>
        <translation>DRY 长度</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>In tokens; shorter passages may repeat</source>
        <translation>以 Token 计；更短的内容可以重复</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>DRY window</source>
        <translation>DRY 窗口</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>DRY covers this many of the last tokens; -1 for the whole context, 0 for none</source>
        <translation>DRY 所涵盖的最近 Token 数；-1 表示整个上下文，0 表示不涵盖</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Mirostat</source>
        <translation>Mirostat</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Version 1 or 2, which replaces the options that exclude tokens; 0 is off</source>
        <translation>版本 1 或 2，取代排除 Token 的选项；0 表示关闭</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Mirostat tau</source>
        <translation>Mirostat tau</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>How surprising each token should be, in bits</source>
        <translation>每个 Token 应有的意外程度，以比特计</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Mirostat eta</source>
        <translation>Mirostat eta</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>How fast mirostat adapts</source>
        <translation>Mirostat 的调整速度</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>the model’s maximum</source>
        <translation>模型上限</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/quick/quick_panel.py" line="-13"/>
        <source>Sotto: Quick Prompt</source>
        <translation>Sotto：快速提问</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/settings/quick_page.py" line="-15"/>
        <source>Quick prompt</source>
        <translation>快速提问</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>Ask anything</source>
        <translation>有问题，尽管问</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Use clipboard</source>
        <translation>使用剪贴板</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Insert the clipboard’s text or image</source>
        <translation>插入剪贴板中的文本或图片</translation>
    </message>
    <message>
        <location line="+4"/>
        <location line="+35"/>
        <source>Open in Sotto</source>
        <translation>在 Sotto 中打开</translation>
    </message>
    <message>
        <location line="-35"/>
        <source>Continue in Sotto’s window</source>
        <translation>在 Sotto 窗口中继续</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>More</source>
        <translation>更多</translation>
    </message>
    <message>
        <location line="+35"/>
        <source>Reset Position</source>
        <translation>重置位置</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Hide</source>
        <translation>隐藏</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>loading…</source>
        <translation>正在加载…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>ejecting…</source>
        <translation>正在卸载…</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Model: {name}, {state}. Choose another one</source>
        <translation>模型：{name}，{state}。选择其他模型</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Model: {name}. Choose another one</source>
        <translation>模型：{name}。选择其他模型</translation>
    </message>
    <message>
        <location line="+42"/>
        <source>No model found</source>
        <translation>未找到模型</translation>
    </message>
    <message numerus="yes">
        <location filename="../../desktop/sotto/ui/quick/quick_prompt.py" line="+220"/>
        <source>1 character from the clipboard|{count} characters from the clipboard</source>
        <translation>
            <numerusform>来自剪贴板的 {count} 个字符</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/session/api_switch.py" line="+128"/>
        <source>The API could not be started ({error}).</source>
        <translation>无法启动 API（{error}）。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/session/model_library.py" line="+195"/>
        <source>The models could not be listed</source>
        <translation>无法列出模型</translation>
    </message>
    <message>
        <location line="+33"/>
        <source>{address} is not on this computer: download the model first, then drop its folder.</source>
        <translation>{address} 不在这台电脑上：请先下载模型，再拖入其文件夹。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Not on this computer</source>
        <translation>不在这台电脑上</translation>
    </message>
    <message>
        <location line="+5"/>
        <location filename="../../desktop/sotto/ui/session/session.py" line="+231"/>
        <source>{name} could not be loaded</source>
        <translation>无法加载 {name}</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Load {names} from the list.</source>
        <translation>请从列表中加载 {names}。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Only one model was loaded</source>
        <translation>只加载了一个模型</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Not everything was loaded</source>
        <translation>部分内容未加载</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>The files of {model} are read and compared with their digests.</source>
        <translation>正在读取 {model} 的文件，并与校验和进行比对。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Checking files</source>
        <translation>正在校验文件</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>{model} could not be checked</source>
        <translation>无法校验 {model}</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{model} is damaged</source>
        <translation>{model} 已损坏</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>No damage found</source>
        <translation>未发现损坏</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>All files of {model} match their digests.</source>
        <translation>{model} 的所有文件均与校验和相符。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/session/session.py" line="-228"/>
        <source>Choose or download a model; your message is kept.</source>
        <translation>请选择或下载模型；消息会保留。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>No model is loaded</source>
        <translation>未加载模型</translation>
    </message>
    <message>
        <location line="+30"/>
        <source>the model</source>
        <translation>模型</translation>
    </message>
    <message>
        <location line="+30"/>
        <source>It was in {folder}, on a disk that is not connected.</source>
        <translation>它位于 {folder}，所在磁盘未连接。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{model} is not there</source>
        <translation>找不到 {model}</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{model} cannot run here</source>
        <translation>{model} 无法在此运行</translation>
    </message>
    <message>
        <location line="+195"/>
        <source>The engine stopped</source>
        <translation>引擎已停止</translation>
    </message>
    <message>
        <location line="+42"/>
        <source>This model has no chat template</source>
        <translation>此模型没有对话模板</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>The chat template ignores questions</source>
        <translation>对话模板会忽略问题</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>{wanted} tokens were requested; the engine loaded {loaded}.</source>
        <translation>请求了 {wanted} 个 Token；引擎加载了 {loaded} 个。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The context is shorter than requested</source>
        <translation>上下文短于请求的长度</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="-42"/>
        <location line="+15"/>
        <source>Scroll with the answer</source>
        <translation>随回答滚动</translation>
    </message>
    <message>
        <location line="-11"/>
        <source>Instructions that models get before your messages</source>
        <translation>在消息之前提供给模型的指令</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Stops when the answer fills the window, or when you scroll.</source>
        <translation>回答占满窗口或手动滚动时停止。</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Defaults for new chats</source>
        <translation>新对话的默认设置</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Whether the model thinks before it answers and, if it can be set, how much. No effect on models without it.</source>
        <translation>模型在回答前是否思考，以及思考多少（如可设置）。对不支持思考的模型无效。</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Advanced</source>
        <translation>高级</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Individual chats can override these.</source>
        <translation>各个对话可以单独更改这些设置。</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>In tokens, up to the maximum of each model. If there is not enough memory, the model is not loaded and you see how many would fit. Applies from the next load.</source>
        <translation>以 Token 计，不超过各模型的上限。如果内存不足，则不加载模型，并显示可容纳的 Token 数。下次加载时生效。</translation>
    </message>
    <message>
        <location line="+54"/>
        <source>The system prompt can have at most {most} characters; this one has {count} and is not used.</source>
        <translation>系统提示词最多 {most} 个字符；当前有 {count} 个，未被采用。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/api_page.py" line="-121"/>
        <location line="+59"/>
        <source>Port</source>
        <translation>端口</translation>
    </message>
    <message>
        <location line="-54"/>
        <source>The port that programs connect to</source>
        <translation>程序所连接的端口</translation>
    </message>
    <message>
        <location line="+11"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="-8"/>
        <location line="+6"/>
        <location line="+27"/>
        <source>Local server</source>
        <translation>本地服务器</translation>
    </message>
    <message>
        <location line="+11"/>
        <location line="+20"/>
        <source>Let other programs use the models</source>
        <translation>允许其他程序使用模型</translation>
    </message>
    <message>
        <location line="-18"/>
        <location line="+23"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="-21"/>
        <source>Address</source>
        <translation>地址</translation>
    </message>
    <message>
        <location line="-18"/>
        <location line="+28"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="+0"/>
        <source>Key</source>
        <translation>密钥</translation>
    </message>
    <message>
        <location line="-25"/>
        <location line="+31"/>
        <source>Web pages</source>
        <translation>网页</translation>
    </message>
    <message>
        <location line="-30"/>
        <source>None</source>
        <comment>web pages</comment>
        <translation>无</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Generate a new key</source>
        <translation>生成新密钥</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="+8"/>
        <source>Copy the key</source>
        <translation>复制密钥</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="-6"/>
        <source>Copy the address</source>
        <translation>复制地址</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>{address} accepts only programs on this computer; any other address needs a key.</source>
        <translation>{address} 仅接受这台电脑上的程序；其他任何地址都需要密钥。</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Programs must send it. It can be empty if only this computer can connect.</source>
        <translation>程序必须发送密钥。如果只有这台电脑可以连接，则可留空。</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Pages that may use the models, such as http://localhost:3000; others are refused.</source>
        <translation>可以使用模型的网页，例如 http://localhost:3000；其他网页会被拒绝。</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Access</source>
        <translation>访问</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Compatible with the Ollama, OpenAI and Anthropic APIs. Programs share the model in the window; their requests are not saved in your chats.</source>
        <translation>兼容 Ollama、OpenAI 和 Anthropic 的 API。程序与窗口共用模型；其请求不会保存到对话中。</translation>
    </message>
    <message>
        <location line="+28"/>
        <source>One moment…</source>
        <translation>请稍候…</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Off: no program can connect.</source>
        <translation>已关闭：任何程序都无法连接。</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Listening at {address}</source>
        <translation>正在监听 {address}</translation>
    </message>
    <message>
        <location line="+31"/>
        <source>An address is a name or number of this machine, such as {example}, not {typed}.</source>
        <translation>地址应为这台电脑的名称或 IP 地址，例如 {example}，而不是 {typed}。</translation>
    </message>
    <message>
        <location line="+27"/>
        <source>The pages can have at most {most} characters in total.</source>
        <translation>网页总共最多 {most} 个字符。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/appearance_page.py" line="+15"/>
        <location line="+24"/>
        <location line="+8"/>
        <source>Text size</source>
        <translation>文字大小</translation>
    </message>
    <message>
        <location line="-32"/>
        <source>In percent</source>
        <translation>以百分比计</translation>
    </message>
    <message>
        <location line="+7"/>
        <location line="+7"/>
        <source>Appearance</source>
        <translation>外观</translation>
    </message>
    <message>
        <location line="+0"/>
        <location line="+23"/>
        <source>System</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <location line="-23"/>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Smaller text</source>
        <translation>缩小文字</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Larger text</source>
        <translation>放大文字</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Light or dark</source>
        <translation>浅色或深色</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>System follows the setting of your desktop.</source>
        <translation>“跟随系统”会采用桌面环境的设置。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Of the whole window; you can also change it in the View menu.</source>
        <translation>应用于整个窗口；也可在“查看”菜单中更改。</translation>
    </message>
    <message>
        <location line="+5"/>
        <location line="+3"/>
        <source>Language</source>
        <translation>语言</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Animations follow the system’s reduced-motion setting.</source>
        <translation>动画遵循系统的“减弱动态效果”设置。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/data_page.py" line="-15"/>
        <source>Your data</source>
        <translation>我的数据</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Delete all chats</source>
        <translation>删除所有对话</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Delete all?</source>
        <translation>全部删除？</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Delete the prompt cache</source>
        <translation>删除提示词缓存</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Delete?</source>
        <translation>删除？</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Reset</source>
        <translation>重置</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Reset all settings</source>
        <translation>重置所有设置</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Reset all?</source>
        <translation>全部重置？</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Delete all data</source>
        <translation>删除所有数据</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Delete everything?</source>
        <translation>删除所有内容？</translation>
    </message>
    <message>
        <location line="+5"/>
        <location filename="../../desktop/sotto/ui/window/chat_list.py" line="-224"/>
        <location line="+154"/>
        <source>Chats</source>
        <translation>对话</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Everything</source>
        <translation>全部数据</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>On this computer</source>
        <translation>在这台电脑上</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/settings/settings_window.py" line="+85"/>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Preferences, presets and the engine’s settings.</source>
        <translation>偏好设置、预设和引擎设置。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Deleted data cannot be restored. Models are not deleted.</source>
        <translation>删除的数据无法恢复。模型不会被删除。</translation>
    </message>
    <message numerus="yes">
        <location line="+14"/>
        <location filename="../../desktop/sotto/ui/transfer/import_summary.py" line="+40"/>
        <location filename="../../desktop/sotto/ui/window/chat_list_model.py" line="-198"/>
        <source>1 chat|{count} chats</source>
        <translation>
            <numerusform>{count} 个对话</numerusform>
        </translation>
    </message>
    <message>
        <location line="+2"/>
        <source>None</source>
        <comment>chats</comment>
        <translation>无</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Empty</source>
        <comment>prompt cache</comment>
        <translation>空</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Chats, prompt cache and settings: frees {size}.</source>
        <translation>对话、提示词缓存和设置：可释放 {size}。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/engine_choices.py" line="+88"/>
        <location filename="../../desktop/sotto/ui/settings/user_data.py" line="+128"/>
        <source>Not everything in {folder} could be removed; another Sotto may be using it: close that first.</source>
        <translation>{folder} 中的部分内容无法移除；可能有另一个 Sotto 正在使用它：请先将其关闭。</translation>
    </message>
    <message>
        <location line="+35"/>
        <source>The limit must be from {least} to the {total} that this machine has, not {size}.</source>
        <translation>上限必须介于 {least} 和这台电脑的 {total} 之间，不能是 {size}。</translation>
    </message>
    <message>
        <location line="+16"/>
        <source>A speed is a number followed by K, M or G, for example 5 MB, not {typed}.</source>
        <translation>速度应为数字加 K、M 或 G，例如 5 MB，而不是 {typed}。</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>The speed must be from {least} to {most} a second, not {speed}.</source>
        <translation>速度必须介于每秒 {least} 和 {most} 之间，不能是 {speed}。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/engine_page.py" line="+15"/>
        <source>In the app’s process, which is fastest. If the engine crashes, so does the app; your chats are saved.</source>
        <translation>在应用进程中运行，速度最快。如果引擎崩溃，应用也会随之崩溃；对话会保留。</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>In its own process: if it crashes, an answer ends but the app keeps running. It needs a little more memory, and ejecting a model frees all of it.</source>
        <translation>在独立进程中运行：如果崩溃，回答会中断，但应用会继续运行。需要稍多内存，卸载模型时会全部释放。</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>If it needs more, it is ended and the answer says so; the next question starts it again.</source>
        <translation>如果需要更多内存，引擎会被终止，并在回答中说明；下次提问时会重新启动。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{variable} is set to {value} in the environment, which overrides this.</source>
        <translation>环境变量 {variable} 设为 {value}，会覆盖此设置。</translation>
    </message>
    <message>
        <location line="+6"/>
        <location line="+7"/>
        <source>Engine</source>
        <translation>引擎</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>In the app</source>
        <translation>应用内</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Isolated</source>
        <translation>隔离</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Where models run</source>
        <translation>模型运行位置</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+4"/>
        <source>Memory limit of the isolated engine</source>
        <translation>隔离引擎的内存上限</translation>
    </message>
    <message>
        <location line="-2"/>
        <source>No limit</source>
        <translation>不限</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/appearance_page.py" line="-1"/>
        <location filename="../../desktop/sotto/ui/settings/engine_page.py" line="+10"/>
        <source>Takes effect after restart.</source>
        <translation>重启后生效。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/folders_page.py" line="-26"/>
        <source>Model folders</source>
        <translation>模型文件夹</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Add Folder…</source>
        <translation>添加文件夹…</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Add folder</source>
        <translation>添加文件夹</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Your folders</source>
        <translation>我的文件夹</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Searched automatically</source>
        <translation>自动搜索的位置</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Other programs’ models are read in place and never changed, moved or deleted.</source>
        <translation>其他程序的模型直接从原位置读取，绝不会更改、移动或删除。</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+3"/>
        <source>Download speed</source>
        <translation>下载速度</translation>
    </message>
    <message>
        <location line="-2"/>
        <source>Unlimited</source>
        <translation>不限</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>For all downloads together, per second. Applies immediately.</source>
        <translation>所有下载的每秒总速度。立即生效。</translation>
    </message>
    <message>
        <location line="+23"/>
        <source>Folders that you add are searched, including their subfolders.</source>
        <translation>会搜索添加的文件夹及其子文件夹。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>None yet</source>
        <translation>暂无</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Not found</source>
        <translation>未找到</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Remove folder {name}</source>
        <translation>移除文件夹“{name}”</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Stop searching this folder</source>
        <translation>停止搜索此文件夹</translation>
    </message>
    <message>
        <location line="+17"/>
        <source>Add a folder with models</source>
        <translation>添加包含模型的文件夹</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>No models</source>
        <translation>没有模型</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/memory_page.py" line="-51"/>
        <location line="+44"/>
        <source>Unload when idle</source>
        <translation>闲置时卸载</translation>
    </message>
    <message>
        <location line="-44"/>
        <location filename="../../desktop/sotto/ui/settings/quick_page.py" line="-10"/>
        <source>In minutes</source>
        <translation>以分钟计</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Full</source>
        <translation>全精度</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>8 bits</source>
        <translation>8 位</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>4 bits</source>
        <translation>4 位</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>16 bits</source>
        <translation>16 位</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Memory and cache</source>
        <translation>内存与缓存</translation>
    </message>
    <message>
        <location line="+7"/>
        <location line="+4"/>
        <source>Memory limit</source>
        <translation>内存上限</translation>
    </message>
    <message>
        <location line="-3"/>
        <source>Cache in memory</source>
        <translation>内存缓存</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Cache on disk</source>
        <translation>磁盘缓存</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+48"/>
        <source>Context precision</source>
        <translation>上下文精度</translation>
    </message>
    <message>
        <location line="-47"/>
        <source>Models and their contexts use no more than this.</source>
        <translation>模型及其上下文占用的内存不会超过此值。</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>In memory</source>
        <translation>内存中</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>How much of earlier prompts stays in memory, so that none is computed twice.</source>
        <translation>将多少先前的提示词保留在内存中，以免重复计算。</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>On disk</source>
        <translation>磁盘上</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>What no longer fits into memory moves there and survives restarts; 0 turns it off.</source>
        <translation>内存容纳不下的内容会移至磁盘，重启后仍保留；0 表示关闭。</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Delete the cache on disk</source>
        <translation>删除磁盘缓存</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>On disk now</source>
        <translation>当前磁盘占用</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/settings/quick_page.py" line="+30"/>
        <source>min</source>
        <translation>分钟</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Unload after this many minutes idle (0 = never).</source>
        <translation>闲置达到此分钟数后卸载（0 = 从不）。</translation>
    </message>
    <message>
        <location line="+4"/>
        <location line="+7"/>
        <source>Predict ahead</source>
        <translation>提前预测</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Models that have a prediction head write faster with it, and take a little more memory.</source>
        <translation>带有预测头的模型使用它可以写得更快，但会多占用一些内存。</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Fewer bits allow longer contexts, with slightly less accuracy.</source>
        <translation>位数越少，上下文可以越长，但精度略有下降。</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Other changes apply when a model is loaded the next time.</source>
        <translation>其他更改在下次加载模型时生效。</translation>
    </message>
    <message>
        <location line="+22"/>
        <source>All free memory</source>
        <translation>所有可用内存</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Models and their contexts use no more than this. The machine has {size} of memory.</source>
        <translation>模型及其上下文占用的内存不会超过此值。这台电脑有 {size} 内存。</translation>
    </message>
    <message numerus="yes">
        <location line="+9"/>
        <source>{size} in 1 entry, in {folder}|{size} in {count} entries, in {folder}</source>
        <translation>
            <numerusform>{size}，共 {count} 项，位于 {folder}</numerusform>
        </translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Nothing</source>
        <translation>无</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/model_folders.py" line="+130"/>
        <source>{folder} is not a folder that can be read; choose the folder that contains your models.</source>
        <translation>{folder} 不是可读取的文件夹；请选择包含模型的文件夹。</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{folder} is already searched.</source>
        <translation>已在搜索 {folder}。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/quick_page.py" line="-30"/>
        <location line="+32"/>
        <source>New chat after</source>
        <translation>闲置后新建对话</translation>
    </message>
    <message>
        <location line="-3"/>
        <source>Shortcut</source>
        <translation>快捷键</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Start fresh if unused for this many minutes.</source>
        <translation>超过此分钟数未使用时，开始新对话。</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+3"/>
        <source>Launch at login</source>
        <translation>登录时启动</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Without a window, so that the quick prompt opens at once.</source>
        <translation>不显示窗口，以便立即打开快速提问。</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+3"/>
        <source>Keep in Dock</source>
        <translation>在程序坞中保留</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Otherwise, Sotto is only in the menu bar while its window is closed.</source>
        <translation>否则，窗口关闭时 Sotto 只显示在菜单栏中。</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>The command sotto --toggle does the same; you can bind it to a shortcut in your desktop’s settings.</source>
        <translation>命令 sotto --toggle 的作用相同；可在桌面环境的设置中为其绑定快捷键。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Startup</source>
        <translation>启动</translation>
    </message>
    <message>
        <location line="+37"/>
        <source>{keys} shows and hides it anywhere.</source>
        <translation>在任意位置按 {keys} 即可显示或隐藏。</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Click to record</source>
        <translation>点击以录制</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/user_data.py" line="-22"/>
        <source>The engine’s settings could not be reset: {reason}.</source>
        <translation>无法重置引擎设置：{reason}。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/state/memory_estimate.py" line="+84"/>
        <source>Fits</source>
        <translation>内存充足</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Tight</source>
        <translation>内存紧张</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Does not fit</source>
        <translation>内存不足</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Unknown</source>
        <translation>未知</translation>
    </message>
    <message>
        <location line="+79"/>
        <source>It has not been checked yet.</source>
        <translation>尚未检查。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Its size is unknown.</source>
        <translation>大小未知。</translation>
    </message>
    <message>
        <location line="+25"/>
        <source>The amount of memory is unknown.</source>
        <translation>内存容量未知。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/state/model_state.py" line="-41"/>
        <source>This model makes embeddings and cannot chat: use it with sotto embed, or through the API.</source>
        <translation>此模型用于生成嵌入，无法对话：请通过 sotto embed 或 API 使用。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/state/wording.py" line="+41"/>
        <location line="+11"/>
        <location line="+10"/>
        <source>{seconds} s</source>
        <translation>{seconds} 秒</translation>
    </message>
    <message>
        <location line="-18"/>
        <source>{minutes} min</source>
        <translation>{minutes} 分钟</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{hours} h {minutes} min</source>
        <translation>{hours} 小时 {minutes} 分钟</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>{hours} h</source>
        <translation>{hours} 小时</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>{minutes} min {seconds} s</source>
        <translation>{minutes} 分 {seconds} 秒</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>{milliseconds} ms</source>
        <translation>{milliseconds} 毫秒</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>just now</source>
        <translation>刚刚</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>{minutes} min ago</source>
        <translation>{minutes} 分钟前</translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>1 hour ago|{count} hours ago</source>
        <translation>
            <numerusform>{count} 小时前</numerusform>
        </translation>
    </message>
    <message>
        <location line="+2"/>
        <source>yesterday</source>
        <translation>昨天</translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>{count} days ago</source>
        <translation>
            <numerusform>{count} 天前</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/timing/debounced_file.py" line="+65"/>
        <source>{file} cannot be written: {reason}.</source>
        <translation>无法写入 {file}：{reason}。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/confirm_button.py" line="+46"/>
        <source>{action}: click again to confirm</source>
        <translation>{action}：再次点击以确认</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/growing_text_edit.py" line="+49"/>
        <source>Message</source>
        <translation>消息</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/notice.py" line="+57"/>
        <location line="+51"/>
        <source>Do it</source>
        <translation>执行</translation>
    </message>
    <message>
        <location line="-49"/>
        <source>Dismiss</source>
        <translation>关闭</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/number.py" line="+55"/>
        <source>set here</source>
        <translation>在此设置</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>from Settings</source>
        <translation>来自设置</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>from the model</source>
        <translation>来自模型</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>default</source>
        <translation>默认</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/number_field.py" line="+55"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="+8"/>
        <source>Clear</source>
        <translation>清除</translation>
    </message>
    <message>
        <location line="+64"/>
        <source>{title} must be a number from {least} to {most}, not {typed}.</source>
        <translation>“{title}”必须是 {least} 到 {most} 之间的数字，不能是 {typed}。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>{title} must be a whole number from {least} to {most}, not {typed}.</source>
        <translation>“{title}”必须是 {least} 到 {most} 之间的整数，不能是 {typed}。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/paged_window.py" line="+44"/>
        <source>{title} pages</source>
        <translation>{title}页面</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/pane.py" line="+25"/>
        <source>Show sidebar</source>
        <translation>显示边栏</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/section_title.py" line="+34"/>
        <source>{title}, expanded</source>
        <translation>{title}，已展开</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Collapse</source>
        <translation>折叠</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>{title}, collapsed</source>
        <translation>{title}，已折叠</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Expand</source>
        <translation>展开</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/answer_message.py" line="-151"/>
        <source>Copy answer</source>
        <translation>复制回答</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Answer by {model}</source>
        <translation>{model} 的回答</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Answer</source>
        <translation>回答</translation>
    </message>
    <message>
        <location line="+9"/>
        <location filename="../../desktop/sotto/ui/transcript/message_menu.py" line="+2"/>
        <source>Regenerate</source>
        <translation>重新生成</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Regenerate and keep this answer</source>
        <translation>重新生成，并保留此回答</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Try another model</source>
        <translation>换用其他模型</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Continue answer</source>
        <translation>继续回答</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/transcript/message_menu.py" line="+4"/>
        <source>Continue</source>
        <translation>继续</translation>
    </message>
    <message>
        <location line="+88"/>
        <location filename="../../desktop/sotto/ui/window/chat_list_model.py" line="+2"/>
        <source>Answering…</source>
        <translation>正在回答…</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/attachment_chips.py" line="-251"/>
        <source>Whole Document</source>
        <translation>整个文档</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Only the Beginning</source>
        <translation>仅开头</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Only the End</source>
        <translation>仅结尾</translation>
    </message>
    <message>
        <location line="+63"/>
        <source>Choose what is sent of {name}</source>
        <translation>选择发送 {name} 的哪些内容</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Choose what is sent</source>
        <translation>选择发送的内容</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Remove {name}</source>
        <translation>移除 {name}</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>Attached: {name}, {details}</source>
        <translation>附件：{name}，{details}</translation>
    </message>
    <message>
        <location line="+118"/>
        <source>Reading…</source>
        <translation>正在读取…</translation>
    </message>
    <message>
        <location line="+62"/>
        <source>first {percent} %</source>
        <translation>开头 {percent}%</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>last {percent} %</source>
        <translation>结尾 {percent}%</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>{percent} % of it</source>
        <translation>其中 {percent}%</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/collapsible_parts.py" line="+116"/>
        <source>Show thoughts</source>
        <translation>显示思考过程</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Hide thoughts</source>
        <translation>隐藏思考过程</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Thoughts</source>
        <translation>思考过程</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Thinking…</source>
        <translation>正在思考…</translation>
    </message>
    <message>
        <location line="+56"/>
        <source>Show arguments</source>
        <translation>显示参数</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Hide arguments</source>
        <translation>隐藏参数</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Arguments</source>
        <translation>参数</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Choosing a tool…</source>
        <translation>正在选择工具…</translation>
    </message>
    <message>
        <location line="+32"/>
        <source>Newest thoughts</source>
        <translation>最新的思考内容</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/find_bar.py" line="+52"/>
        <source>Find in this chat</source>
        <translation>在此对话中查找</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Previous match</source>
        <translation>上一个匹配项</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Previous match (Enter)</source>
        <translation>上一个匹配项 (Enter)</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Next match</source>
        <translation>下一个匹配项</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Next match (Shift+Enter)</source>
        <translation>下一个匹配项 (Shift+Enter)</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Close find bar</source>
        <translation>关闭查找栏</translation>
    </message>
    <message>
        <location line="+53"/>
        <source>Nothing found</source>
        <translation>未找到</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{number} of {count}</source>
        <translation>{number} / {count}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/jump_to_latest.py" line="+20"/>
        <location line="+13"/>
        <source>Jump to latest</source>
        <translation>跳到最新消息</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Jump to latest, answer in progress</source>
        <translation>跳到最新消息，正在回答</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/message_editor.py" line="-7"/>
        <location filename="../../desktop/sotto/ui/transcript/user_message.py" line="-54"/>
        <source>Edit message</source>
        <translation>编辑消息</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Edit answer</source>
        <translation>编辑回答</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Send</source>
        <translation>发送</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Save</source>
        <translation>保存</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Previous version is kept</source>
        <translation>会保留先前的版本</translation>
    </message>
    <message>
        <location line="+15"/>
        <source>Wait for the end of the answer</source>
        <translation>请等待回答结束</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/message_menu.py" line="-21"/>
        <source>Delete Answer</source>
        <translation>删除回答</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Delete Question</source>
        <translation>删除问题</translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>Delete Question and Answer|Delete Question and Answers</source>
        <translation>
            <numerusform>删除问题和回答</numerusform>
        </translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Copy Selection</source>
        <translation>复制所选内容</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/window/chat_list.py" line="+131"/>
        <source>Copy Link</source>
        <translation>复制链接</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Try Another Model…</source>
        <translation>换用其他模型…</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Get an Answer</source>
        <translation>获取回答</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Edit…</source>
        <translation>编辑…</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Branch From Here</source>
        <translation>从此处创建分支</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Show Markdown</source>
        <translation>显示 Markdown</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/message_widget.py" line="+2"/>
        <source>More actions</source>
        <translation>更多操作</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/notices.py" line="+86"/>
        <source>In another chat.</source>
        <translation>在另一个对话中。</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/window/chat_files.py" line="+11"/>
        <source>Open chat</source>
        <translation>打开对话</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/transcript.py" line="+62"/>
        <source>Conversation</source>
        <translation>对话内容</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/user_message.py" line="-18"/>
        <source>Copy message</source>
        <translation>复制消息</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Your message</source>
        <translation>我的消息</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Show more</source>
        <translation>显示更多</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Show more of this message</source>
        <translation>显示此消息的更多内容</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>Get an answer</source>
        <translation>获取回答</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/version_switch.py" line="+24"/>
        <source>Previous version</source>
        <translation>上一个版本</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Next version</source>
        <translation>下一个版本</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>Version {number} of {count}</source>
        <translation>第 {number} 个版本，共 {count} 个</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/chat_exporting.py" line="-136"/>
        <source>Not printed</source>
        <translation>未打印</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/pictures/chat_images.py" line="+117"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_exporting.py" line="+99"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_importing.py" line="+156"/>
        <source>{file} could not be written: {reason}.</source>
        <translation>无法写入 {file}：{reason}。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/chat_exporting.py" line="-133"/>
        <location line="+93"/>
        <source>Nothing was exported</source>
        <translation>未导出任何内容</translation>
    </message>
    <message>
        <location line="-98"/>
        <source>Chats as {form}</source>
        <translation>对话（{form}）</translation>
    </message>
    <message>
        <location line="+18"/>
        <source>There are no chats yet.</source>
        <translation>还没有对话。</translation>
    </message>
    <message>
        <location line="+144"/>
        <source>The chat is no longer there, so it was not exported.</source>
        <translation>该对话已不存在，因此未导出。</translation>
    </message>
    <message>
        <location line="+13"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_page.py" line="-5"/>
        <source>You</source>
        <translation>我</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/chat_importing.py" line="-40"/>
        <location line="+30"/>
        <source>Nothing was imported</source>
        <translation>未导入任何内容</translation>
    </message>
    <message>
        <location line="+60"/>
        <source>The chats could not be added.</source>
        <translation>无法添加对话。</translation>
    </message>
    <message numerus="yes">
        <location line="-11"/>
        <source>{added} of 1 chat added|{added} of {count} chats added</source>
        <translation>
            <numerusform>已添加 {added} 个对话，共 {count} 个</numerusform>
        </translation>
    </message>
    <message>
        <location line="-51"/>
        <source>Not everything was imported</source>
        <translation>未全部导入</translation>
    </message>
    <message numerus="yes">
        <location line="+54"/>
        <source>1 chat read|{count} chats read</source>
        <translation>
            <numerusform>已读取 {count} 个对话</numerusform>
        </translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Opening the files</source>
        <translation>正在打开文件</translation>
    </message>
    <message numerus="yes">
        <location filename="../../desktop/sotto/ui/transfer/chat_page.py" line="+33"/>
        <source>1 character|{count} characters</source>
        <translation>
            <numerusform>{count} 个字符</numerusform>
        </translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Attached: {file}</source>
        <translation>附件：{file}</translation>
    </message>
    <message numerus="yes">
        <location filename="../../desktop/sotto/ui/transfer/import_summary.py" line="-18"/>
        <source>Imported 1 chat.|Imported {count} chats.</source>
        <translation>
            <numerusform>已导入 {count} 个对话。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+13"/>
        <source>1 chat got new messages.|{count} chats got new messages.</source>
        <translation>
            <numerusform>{count} 个对话新增了消息。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="-9"/>
        <source>1 chat was already here.|{count} chats were already here.</source>
        <translation>
            <numerusform>{count} 个对话已存在。</numerusform>
        </translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{things} could not be read.</source>
        <translation>{things}无法读取。</translation>
    </message>
    <message numerus="yes">
        <location line="+12"/>
        <source>1 message|{count} messages</source>
        <translation>
            <numerusform>{count} 条消息</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 image|{count} images</source>
        <translation>
            <numerusform>{count} 张图片</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 recording|{count} recordings</source>
        <translation>
            <numerusform>{count} 段录音</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 file|{count} files</source>
        <translation>
            <numerusform>{count} 个文件</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 tool call|{count} tool calls</source>
        <translation>
            <numerusform>{count} 次工具调用</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 unknown part|{count} unknown parts</source>
        <translation>
            <numerusform>{count} 处未知内容</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/paper.py" line="+120"/>
        <source>The printer could not be used: choose another one, or print to a file.</source>
        <translation>无法使用打印机：请选择其他打印机，或打印到文件。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/about.py" line="+27"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+12"/>
        <source>About Sotto</source>
        <translation>关于 Sotto</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/window/help_window.py" line="+20"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="-3"/>
        <source>Licences</source>
        <translation>许可证</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>OK</source>
        <translation>确定</translation>
    </message>
    <message>
        <location line="+16"/>
        <source>Version {version}</source>
        <translation>版本 {version}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Runs language models on your computer</source>
        <translation>在自己的电脑上运行语言模型</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>MIT licence</source>
        <translation>MIT 许可证</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/chat_files.py" line="-192"/>
        <source>Importing chats</source>
        <translation>正在导入对话</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Import complete</source>
        <translation>导入完成</translation>
    </message>
    <message>
        <location line="+59"/>
        <source>Exported chats</source>
        <translation>导出的对话</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/window/dialogs.py" line="+0"/>
        <source>All files</source>
        <translation>所有文件</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Import chats</source>
        <translation>导入对话</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Import a folder of chats</source>
        <translation>导入对话文件夹</translation>
    </message>
    <message>
        <location line="+20"/>
        <source>Nothing to export</source>
        <translation>没有可导出的内容</translation>
    </message>
    <message>
        <location line="+0"/>
        <location line="+33"/>
        <source>This chat has no messages yet.</source>
        <translation>此对话还没有消息。</translation>
    </message>
    <message>
        <location line="-25"/>
        <source>Export as {form}</source>
        <translation>导出为 {form}</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Export all chats</source>
        <translation>导出所有对话</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Choose where to put the folder of chats</source>
        <translation>选择对话文件夹的存放位置</translation>
    </message>
    <message>
        <location line="+17"/>
        <source>Nothing to print</source>
        <translation>没有可打印的内容</translation>
    </message>
    <message>
        <location line="+28"/>
        <source>Exporting</source>
        <translation>正在导出</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Long chats take a moment.</source>
        <translation>较长的对话需要一点时间。</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>{written} of {count} chats written</source>
        <translation>已写入 {written}/{count} 个对话</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Exported</source>
        <translation>已导出</translation>
    </message>
    <message>
        <location line="-1"/>
        <source>Written to {path}.</source>
        <translation>已写入 {path}。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Show folder</source>
        <translation>显示文件夹</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Export cancelled</source>
        <translation>已取消导出</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Nothing was written.</source>
        <translation>未写入任何内容。</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Printed</source>
        <translation>已打印</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>Import cancelled</source>
        <translation>导入已取消</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Nothing was imported.</source>
        <translation>未导入任何内容。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/chat_header.py" line="-25"/>
        <source>Switch model</source>
        <translation>切换模型</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>New chat</source>
        <translation>新建对话</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Start a new chat</source>
        <translation>开始新对话</translation>
    </message>
    <message>
        <location line="+28"/>
        <source>Switch to {model}</source>
        <translation>切换到 {model}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{model} answered last in this chat</source>
        <translation>此对话最近由 {model} 回答</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Choose another model</source>
        <translation>选择其他模型</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Model: {name}</source>
        <translation>模型：{name}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/chat_list.py" line="-284"/>
        <source>Archive</source>
        <translation>归档</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Trash</source>
        <translation>回收站</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Your chats appear here.</source>
        <translation>对话会显示在这里。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>No archived chats.</source>
        <translation>没有已归档的对话。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The trash is empty. Chats in it are deleted after 30 days.</source>
        <translation>回收站是空的。其中的对话会在 30 天后删除。</translation>
    </message>
    <message>
        <location line="+167"/>
        <source>Choose which chats are listed, or make a folder</source>
        <translation>选择要列出的对话，或新建文件夹</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Chats, archive, trash, folders</source>
        <translation>对话、归档、回收站、文件夹</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Empty…</source>
        <translation>清空…</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Empty the trash</source>
        <translation>清空回收站</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Back to chats</source>
        <translation>返回对话列表</translation>
    </message>
    <message>
        <location line="+81"/>
        <source>Restore</source>
        <translation>恢复</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Delete for Good…</source>
        <translation>永久删除…</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Unpin</source>
        <translation>取消置顶</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Pin</source>
        <translation>置顶</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Unarchive</source>
        <translation>取消归档</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Archive</source>
        <comment>move to the archive</comment>
        <translation>归档</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="-54"/>
        <source>Print…</source>
        <translation>打印…</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Move to Trash</source>
        <translation>移到回收站</translation>
    </message>
    <message>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/window/main_window.py" line="-44"/>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Delete Folder but Keep Chats</source>
        <translation>删除文件夹但保留对话</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Move to Folder</source>
        <translation>移到文件夹</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>No Folder</source>
        <translation>无文件夹</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>New Folder…</source>
        <translation>新建文件夹…</translation>
    </message>
    <message>
        <location line="+51"/>
        <source>New Folder</source>
        <translation>新建文件夹</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/chat_list_model.py" line="+27"/>
        <source>Folder {name}, {chats}, closed</source>
        <translation>文件夹“{name}”，{chats}，已关闭</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Folder {name}, {chats}, open</source>
        <translation>文件夹“{name}”，{chats}，已打开</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>pinned</source>
        <translation>已置顶</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>in a folder</source>
        <translation>在文件夹中</translation>
    </message>
    <message>
        <location line="+49"/>
        <source>Pinned</source>
        <translation>已置顶</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Today</source>
        <translation>今天</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Yesterday</source>
        <translation>昨天</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Previous 7 days</source>
        <translation>过去 7 天</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>{month} {year}</source>
        <translation>{year}年{month}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/help_window.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+50"/>
        <source>Shortcuts</source>
        <translation>快捷键</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>Help</source>
        <translation>帮助</translation>
    </message>
    <message>
        <location line="+55"/>
        <source>Send the message</source>
        <translation>发送消息</translation>
    </message>
    <message>
        <location line="+0"/>
        <location line="+3"/>
        <source>Enter</source>
        <translation>Enter</translation>
    </message>
    <message>
        <location line="-2"/>
        <source>New line in a message</source>
        <translation>在消息中换行</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Shift+Enter</source>
        <translation>Shift+Enter</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Enter, Shift+Enter</source>
        <translation>Enter、Shift+Enter</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Previous and next match while searching in a chat</source>
        <translation>在对话中查找时转到上一个、下一个匹配项</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Load the selected model</source>
        <translation>加载所选模型</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Rename the selected chat</source>
        <translation>重命名所选对话</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Action</source>
        <translation>操作</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Keys</source>
        <translation>按键</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>{part} (in {library})</source>
        <translation>{part}（位于 {library} 中）</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>see its package</source>
        <translation>见其软件包</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Qt and PySide6 are used under the LGPL, version 3. They are libraries of their own, whose files can be replaced by changed ones. Their source is at {address}.</source>
        <translation>Qt 和 PySide6 依据 LGPL 第 3 版使用。它们是独立的库，其文件可以替换为修改后的版本。源代码位于 {address}。</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Sotto is under the MIT licence. It uses:</source>
        <translation>Sotto 采用 MIT 许可证。它使用了：</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Package</source>
        <translation>软件包</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="-5"/>
        <location line="+8"/>
        <location filename="../../desktop/sotto/ui/window/help_window.py" line="+0"/>
        <source>Licence</source>
        <translation>许可证</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/help_window.py" line="+8"/>
        <source>All licences</source>
        <translation>所有许可证</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/main_window.py" line="-1"/>
        <source>Open this link in your browser?</source>
        <translation>在浏览器中打开此链接？</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Writing a summary</source>
        <translation>正在生成摘要</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>A new chat will start with it.</source>
        <translation>新对话将以此摘要开始。</translation>
    </message>
    <message>
        <location line="+17"/>
        <source>Moved to the trash</source>
        <translation>已移到回收站</translation>
    </message>
    <message>
        <location line="+17"/>
        <source>Delete “{title}” for good?</source>
        <translation>永久删除“{title}”？</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>This cannot be undone.</source>
        <translation>此操作无法撤销。</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Its chats are deleted for good.</source>
        <translation>其中的对话将被永久删除。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Empty</source>
        <comment>empty the trash</comment>
        <translation>清空</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Empty the trash?</source>
        <translation>清空回收站？</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Folder deleted</source>
        <translation>文件夹已删除</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The chats in “{folder}” are still in the list.</source>
        <translation>“{folder}”中的对话仍在列表中。</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>About your chats</source>
        <translation>关于你的对话</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Not saved</source>
        <translation>未保存</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="-73"/>
        <source>&amp;File</source>
        <translation>文件(&amp;F)</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>New Chat Folder</source>
        <translation>新建对话文件夹</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Open Model…</source>
        <translation>打开模型…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Open Model Folder…</source>
        <translation>打开模型文件夹…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Add Model Folder…</source>
        <translation>添加模型文件夹…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Get a Model…</source>
        <translation>获取模型…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Get a Model by Name…</source>
        <translation>按名称获取模型…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Manage Models…</source>
        <translation>管理模型…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Rescan Models</source>
        <translation>重新扫描模型</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Attach Files…</source>
        <translation>添加附件…</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Import Chats…</source>
        <translation>导入对话…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Import Chat Folder…</source>
        <translation>导入对话文件夹…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Export Chat</source>
        <translation>导出对话</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Export All Chats</source>
        <translation>导出所有对话</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Export All as {form}…</source>
        <translation>全部导出为 {form}…</translation>
    </message>
    <message>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="+3"/>
        <source>Settings…</source>
        <translation>设置…</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Close Window</source>
        <translation>关闭窗口</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>&amp;Edit</source>
        <translation>编辑(&amp;E)</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Redo</source>
        <translation>重做</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Cut</source>
        <translation>剪切</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Paste</source>
        <translation>粘贴</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Select All</source>
        <translation>全选</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>Find in Chat</source>
        <translation>在对话中查找</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Search Chats and Models</source>
        <translation>搜索对话和模型</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Go to Models</source>
        <translation>转到模型</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>&amp;View</source>
        <translation>查看(&amp;V)</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Larger Text</source>
        <translation>放大文字</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Smaller Text</source>
        <translation>缩小文字</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Normal Text</source>
        <translation>默认文字大小</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Sidebar</source>
        <translation>边栏</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Command Palette</source>
        <translation>命令面板</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Chat Settings</source>
        <translation>对话设置</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Local Server</source>
        <translation>本地服务器</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>&amp;Help</source>
        <translation>帮助(&amp;H)</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Sotto Help</source>
        <translation>Sotto 帮助</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Copy Report</source>
        <translation>复制报告</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Show Logs</source>
        <translation>显示日志</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Check for Updates…</source>
        <translation>检查更新…</translation>
    </message>
    <message>
        <location line="+32"/>
        <source>Export as {form}…</source>
        <translation>导出为 {form}…</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/message_commands.py" line="+110"/>
        <source>Question deleted</source>
        <translation>问题已删除</translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>Question and answer deleted|Question and {count} answers deleted</source>
        <translation>
            <numerusform>问题和 {count} 个回答已删除</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>Answer deleted|{count} answers deleted</source>
        <translation>
            <numerusform>{count} 个回答已删除</numerusform>
        </translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The messages that follow are kept.</source>
        <translation>后续消息会保留。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/request_list.py" line="-1"/>
        <source>Working</source>
        <translation>处理中</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Reading</source>
        <translation>读取中</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Writing</source>
        <translation>生成中</translation>
    </message>
    <message>
        <location line="+92"/>
        <source>Cancelled</source>
        <translation>已取消</translation>
    </message>
    <message numerus="yes">
        <location line="+20"/>
        <source>{read} → 1 token|{read} → {written} tokens</source>
        <translation>
            <numerusform>{read} → {written} 个 Token</numerusform>
        </translation>
    </message>
    <message>
        <location line="+67"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="+30"/>
        <source>Requests</source>
        <translation>请求</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="-38"/>
        <location line="+117"/>
        <source>Show the key</source>
        <translation>显示密钥</translation>
    </message>
    <message>
        <location line="-112"/>
        <source>Clear the requests</source>
        <translation>清除请求</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>No requests yet</source>
        <translation>暂无请求</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Settings of the local server</source>
        <translation>本地服务器的设置</translation>
    </message>
    <message>
        <location line="+85"/>
        <source>Other programs can use your models while it is on.</source>
        <translation>开启后，其他程序可以使用模型。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Starting…</source>
        <translation>正在启动…</translation>
    </message>
    <message>
        <location line="+22"/>
        <source>Hidden</source>
        <translation>已隐藏</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Hide the key</source>
        <translation>隐藏密钥</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/server_status.py" line="+41"/>
        <source>Server off</source>
        <translation>服务器已关闭</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Server could not start</source>
        <translation>服务器无法启动</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Server on :{port}</source>
        <translation>服务器已开启 :{port}</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Server starting…</source>
        <translation>服务器正在启动…</translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 request|{count} requests</source>
        <translation>
            <numerusform>{count} 个请求</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/sidebar.py" line="+55"/>
        <source>Search chats and models</source>
        <translation>搜索对话和模型</translation>
    </message>
    <message>
        <location line="+17"/>
        <source>Hide sidebar</source>
        <translation>隐藏边栏</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/welcome.py" line="+22"/>
        <source>Explain how a rainbow forms, in three sentences.</source>
        <translation>用三句话解释彩虹是怎样形成的。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Suggest a name for a small sailing boat.</source>
        <translation>给一艘小帆船起个名字。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>What makes bread rise?</source>
        <translation>面包为什么会膨胀起来？</translation>
    </message>
    <message>
        <location line="+83"/>
        <source>Welcome to Sotto</source>
        <translation>欢迎使用 Sotto</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Choose a model in the list to chat with it. Nothing you write leaves your computer.</source>
        <translation>在列表中选择一个模型，即可与它对话。你输入的内容不会离开这台电脑。</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Ask about Sotto</source>
        <translation>了解 Sotto</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Ask {model}</source>
        <translation>向 {model} 提问</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>The model is loading. You can start writing.</source>
        <translation>正在加载模型。现在就可以开始输入。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>I’m the small model that comes with Sotto.</source>
        <translation>我是 Sotto 自带的小模型。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>It runs on your computer.</source>
        <translation>它在这台电脑上运行。</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Ask: {question}</source>
        <translation>提问：{question}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/shortcut_messages.py" line="+6"/>
        <source>Apps cannot register shortcuts on this desktop: bind `sotto --toggle` to {keys} in the settings of your desktop.</source>
        <translation>应用无法在此桌面环境中注册快捷键：请在桌面环境的设置中将 `sotto --toggle` 绑定到 {keys}。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/dialogs.py" line="+1"/>
        <source>Open model</source>
        <translation>打开模型</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Open model folder</source>
        <translation>打开模型文件夹</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/file_names.py" line="+22"/>
        <source>chat</source>
        <translation>对话</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/uncaught.py" line="-1"/>
        <source>That was when you last used it. Your chats are saved.</source>
        <translation>这发生在您上次使用时。您的对话已保存。</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>This error keeps it from running. Your chats are saved.</source>
        <translation>此错误使其无法运行。您的对话已保存。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Sotto cannot start</source>
        <translation>Sotto 无法启动</translation>
    </message>
    <message>
        <location line="+39"/>
        <source>An error occurred in Sotto. Your chats are saved, and you can go on.</source>
        <translation>Sotto 出现错误。您的对话已保存，可以继续使用。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Something went wrong</source>
        <translation>出了点问题</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/bug_report.py" line="+41"/>
        <source>Writing a report</source>
        <translation>正在生成报告</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>It has no messages, keys or names of chats.</source>
        <translation>其中不含消息、密钥或对话名称。</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Report copied</source>
        <translation>报告已复制</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Paste it into your bug report.</source>
        <translation>请将其粘贴到您的错误报告中。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/login_portal.py" line="+24"/>
        <source>The desktop did not change whether Sotto starts at login.</source>
        <translation>桌面环境未更改 Sotto 是否在登录时启动。</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>The quick prompt is there at once.</source>
        <translation>快速提问随时可用。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/address_opener.py" line="+50"/>
        <source>Address not opened</source>
        <translation>未打开地址</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Add this text to your draft?</source>
        <translation>将此文本添加到草稿？</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Add</source>
        <comment>to the draft</comment>
        <translation>添加</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>There is no chat with the number {number}.</source>
        <translation>没有编号为 {number} 的对话。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/own_addresses.py" line="+71"/>
        <source>The address is longer than {count} characters, so it is not opened.</source>
        <translation>该地址超过 {count} 个字符，因此不会打开。</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>Sotto opens sotto://model/NAME, sotto://chat/NUMBER and sotto://ask?text=TEXT, not {address}.</source>
        <translation>Sotto 可以打开 sotto://model/名称、sotto://chat/编号 和 sotto://ask?text=文本，不能打开 {address}。</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>The address is not opened, because it is not encoded as UTF-8 text.</source>
        <translation>该地址未按 UTF-8 文本编码，因此不会打开。</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>The address is not opened, because it holds characters that cannot be seen.</source>
        <translation>该地址包含不可见字符，因此不会打开。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/update_notices.py" line="-9"/>
        <source>Sotto {version} is available</source>
        <translation>Sotto {version} 可用</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>What is new</source>
        <translation>新增内容</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Look for new versions once a day?</source>
        <translation>每天查找一次新版本？</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Sotto then reads a list from one address; nothing about you is sent, and nothing is installed.</source>
        <translation>Sotto 将从一个地址读取列表；不会发送有关您的任何信息，也不会安装任何内容。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/updates_page.py" line="+26"/>
        <source>Updates</source>
        <translation>更新</translation>
    </message>
    <message>
        <location line="+7"/>
        <location line="+11"/>
        <source>Look for new versions</source>
        <translation>查找新版本</translation>
    </message>
    <message>
        <location line="-9"/>
        <source>Check now</source>
        <translation>立即检查</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Once a day, Sotto reads a signed list from {address}, which learns your network address and nothing else; it downloads and installs nothing.</source>
        <translation>Sotto 每天从 {address} 读取一次已签名的列表，对方只会得知您的网络地址；不会下载或安装任何内容。</translation>
    </message>
    <message>
        <location line="+33"/>
        <source>Open download page</source>
        <translation>打开下载页面</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>How to get it</source>
        <translation>如何获取</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>This build cannot look for new versions, because it has no key to check them with.</source>
        <translation>此构建没有用于验证的密钥，因此无法查找新版本。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Looking…</source>
        <translation>正在查找…</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Version {version} is available.</source>
        <translation>版本 {version} 可用。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>This is the newest version.</source>
        <translation>这是最新版本。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Not looked for yet.</source>
        <translation>尚未查找。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Last looked for {ago}.</source>
        <translation>上次查找：{ago}。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/updating/release_advice.py" line="+9"/>
        <source>Sotto belongs to your system’s packages: install the new one with the software centre, or with “sudo apt install ./sotto_{version}_….deb”.</source>
        <translation>Sotto 属于系统的软件包：请用软件中心或“sudo apt install ./sotto_{version}_….deb”安装新版本。</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Update Sotto in the software centre, or with “flatpak update {program}”.</source>
        <translation>请在软件中心或用“flatpak update {program}”更新 Sotto。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>This Sotto is a checkout of its sources: “git pull” brings the new version.</source>
        <translation>此 Sotto 是源代码的检出：“git pull”即可获得新版本。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>This Sotto is a Python package: install the new wheel in the same environment.</source>
        <translation>此 Sotto 是 Python 软件包：请在同一环境中安装新的 wheel。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Download the new AppImage, and put it in the place of this one.</source>
        <translation>下载新的 AppImage 并替换当前的。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Download the new version, quit Sotto, and put its folder in the place of this one.</source>
        <translation>下载新版本，退出 Sotto，然后用新文件夹替换当前文件夹。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Download the new version, quit Sotto, and drag it over this one.</source>
        <translation>下载新版本，退出 Sotto，然后将其拖到当前版本上。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/customizing/customizing.py" line="+74"/>
        <source>{name} cannot be customized</source>
        <translation>无法自定义 {name}</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Customize {name}</source>
        <translation>自定义 {name}</translation>
    </message>
    <message>
        <location line="+35"/>
        <source>There is one of this name; it will be replaced.</source>
        <translation>已有同名模型；它将被替换。</translation>
    </message>
    <message>
        <location line="+14"/>
        <source>Hello! Who are you?</source>
        <translation>你好！你是谁？</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>I am here to help.</source>
        <translation>我来帮忙。</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>What is the capital of France?</source>
        <translation>法国的首都是哪里？</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>Creating…</source>
        <translation>正在创建…</translation>
    </message>
    <message>
        <location line="+22"/>
        <source>{name} was created</source>
        <translation>已创建 {name}</translation>
    </message>
    <message>
        <location line="+21"/>
        <source>Its weights were copied from {name}.</source>
        <translation>其权重复制自 {name}。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>It shares its weights with {name}.</source>
        <translation>它与 {name} 共用权重。</translation>
    </message>
    <message>
        <location line="-8"/>
        <source>Copying… {share}</source>
        <translation>正在复制… {share}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/keeping/model_keeper.py" line="-110"/>
        <source>Rename {name}</source>
        <translation>重命名 {name}</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/keeping/name_form.py" line="-4"/>
        <source>Rename</source>
        <translation>重命名</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Duplicate {name}</source>
        <translation>复制 {name}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Both share their files, so that the copy takes up no space.</source>
        <translation>两者共享文件，因此副本不占用空间。</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Duplicate</source>
        <translation>复制</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Keep a copy of {name}</source>
        <translation>保留 {name} 的副本</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>The copy stays when {program} deletes the model. Where the disk can share files, it takes up no space: either as a clone, or as a link, which is one file with two names.</source>
        <translation>{program} 删除模型后，副本仍会保留。如果磁盘可以共享文件，副本不占用空间：要么是克隆，要么是链接，即一个文件有两个名称。</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Keep</source>
        <comment>keep a copy of a model</comment>
        <translation>保留</translation>
    </message>
    <message>
        <location line="+28"/>
        <source>{name} was duplicated</source>
        <translation>已复制 {name}</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>{name} is kept</source>
        <translation>已保留 {name}</translation>
    </message>
    <message>
        <location line="+45"/>
        <source>{name} was renamed</source>
        <translation>已重命名 {name}</translation>
    </message>
    <message>
        <location line="+26"/>
        <source>{size} shared with {program}</source>
        <translation>与 {program} 共享 {size}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{size} copied</source>
        <translation>已复制 {size}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/finding_controller.py" line="+144"/>
        <source>Looking at its files…</source>
        <translation>正在查看其文件…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Its owner must allow the download first.</source>
        <translation>需先由所有者允许下载。</translation>
    </message>
    <message>
        <location line="+65"/>
        <source>What you type here is sent to {host}.</source>
        <translation>在此输入的内容会发送给 {host}。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Searching…</source>
        <translation>正在搜索…</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Nothing was found there.</source>
        <translation>没有找到任何结果。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_list.py" line="-134"/>
        <source>Models to download</source>
        <translation>可下载的模型</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_controller.py" line="-35"/>
        <source>Folder…</source>
        <translation>文件夹…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>GGUF file…</source>
        <translation>GGUF 文件…</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>GGUF files</source>
        <translation>GGUF 文件</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_sheet.py" line="-48"/>
        <location line="+45"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="-216"/>
        <source>Import a model</source>
        <translation>导入模型</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>{name} is being imported already; choose another name.</source>
        <translation>{name} 正在导入；请选择其他名称。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_job.py" line="-62"/>
        <source>Preparing the import</source>
        <translation>正在准备导入</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Importing</source>
        <translation>正在导入</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Measuring the quality</source>
        <translation>正在测量质量</translation>
    </message>
    <message>
        <location line="+58"/>
        <source>{name} could not be imported</source>
        <translation>无法导入 {name}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>It takes {size}.</source>
        <translation>占用 {size}。</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>Perplexity {before} → {after}, KL divergence {divergence}, the same token in {share} %.</source>
        <translation>困惑度 {before} → {after}，KL 散度 {divergence}，相同词元 {share} %。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_list.py" line="-1"/>
        <source>Cancel the import of {name}</source>
        <translation>取消导入 {name}</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Imported</source>
        <translation>已导入</translation>
    </message>
    <message>
        <location line="+30"/>
        <source>Resume the import of {name}</source>
        <translation>继续导入 {name}</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Pause the import of {name}</source>
        <translation>暂停导入 {name}</translation>
    </message>
    <message>
        <location line="+26"/>
        <source>Imports</source>
        <translation>导入</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_sheet.py" line="-40"/>
        <source>Import {name}</source>
        <translation>导入 {name}</translation>
    </message>
    <message>
        <location line="+10"/>
        <location line="+34"/>
        <source>Quantization</source>
        <translation>量化</translation>
    </message>
    <message>
        <location line="-31"/>
        <location line="+32"/>
        <source>Measure the quality</source>
        <translation>测量质量</translation>
    </message>
    <message>
        <location line="-30"/>
        <location line="+75"/>
        <source>Reading the model…</source>
        <translation>正在读取模型…</translation>
    </message>
    <message>
        <location line="-72"/>
        <source>Use where it is</source>
        <translation>就地使用</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Import</source>
        <translation>导入</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>8 bits ({name})</source>
        <translation>8 位（{name}）</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>4 bits ({name})</source>
        <translation>4 位（{name}）</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Keep as it is</source>
        <translation>保持不变</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Against the original, when it is imported</source>
        <translation>导入后与原模型比较</translation>
    </message>
    <message>
        <location line="+72"/>
        <source>It will take {size} on the disk.</source>
        <translation>将占用 {size} 磁盘空间。</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Its weights need {size} of memory, and {free} are free.</source>
        <translation>权重需要 {size} 内存，可用 {free}。</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>It fits.</source>
        <translation>可以容纳。</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>It does not fit now; fewer bits may help.</source>
        <translation>现在放不下；减少位数可能有用。</translation>
    </message>
    <message>
        <location line="+57"/>
        <source>There is a model {name} already; choose another name.</source>
        <translation>已有名为 {name} 的模型；请选择其他名称。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_imports/running_imports.py" line="+90"/>
        <source>Earlier imports could not be read</source>
        <translation>无法读取之前的导入</translation>
    </message>
    <message>
        <location line="+142"/>
        <source>The process that measures ended unexpectedly.</source>
        <translation>测量进程意外结束。</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/attachment_control.py" line="+72"/>
        <source>Pasted image</source>
        <translation>粘贴的图片</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/composer_controller.py" line="+70"/>
        <source>No screenshot</source>
        <translation>没有截图</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/screenshots.py" line="+107"/>
        <source>The desktop did not take one: take it with another program, and paste it here.</source>
        <translation>桌面环境没有截图：请用其他程序截图，然后粘贴到这里。</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Screenshot</source>
        <translation>截图</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/picture_button.py" line="+49"/>
        <location filename="../../desktop/sotto/ui/transcript/picture_viewer.py" line="-92"/>
        <source>Image {name}</source>
        <translation>图片 {name}</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Shows it whole</source>
        <translation>显示完整图片</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/picture_viewer.py" line="-8"/>
        <source>Zoom out</source>
        <translation>缩小</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Zoom in</source>
        <translation>放大</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Zoom to fit</source>
        <translation>适合窗口</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Copy image</source>
        <translation>复制图片</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Save image as…</source>
        <translation>图片另存为…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Opening…</source>
        <translation>正在打开…</translation>
    </message>
    <message>
        <location line="+99"/>
        <source>Save image as</source>
        <translation>图片另存为</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>Saved</source>
        <translation>已保存</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/exported_images.py" line="+26"/>
        <source>{name} images</source>
        <translation>{name} 图片</translation>
    </message>
</context>
</TS>
